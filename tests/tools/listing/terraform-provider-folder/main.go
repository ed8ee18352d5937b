// SPDX-License-Identifier: MPL-2.0

// terraform-provider-folder manages and lists files of a folder. No provider with list resources is available as a Go
// module that builds in less than many minutes, so the tests of queries have this one.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return folders{} },
		providerserver.ServeOpts{Address: "registry.terraform.io/runyard/folder"}); err != nil {
		log.Fatal(err)
	}
}

type folders struct{}

func (folders) Metadata(_ context.Context, _ provider.MetadataRequest, res *provider.MetadataResponse) {
	res.TypeName = "folder"
}

func (folders) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (folders) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (folders) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (folders) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return file{} }}
}

func (folders) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{func() list.ListResource { return file{} }}
}

// file is the resource folder_file, and the list of such files.
type file struct{}

type fileModel struct {
	Path    types.String `tfsdk:"path"`
	Content types.String `tfsdk:"content"`
}

func (file) Metadata(_ context.Context, _ resource.MetadataRequest, res *resource.MetadataResponse) {
	res.TypeName = "folder_file"
}

func (file) Schema(_ context.Context, _ resource.SchemaRequest, res *resource.SchemaResponse) {
	replaced := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	res.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"path":    schema.StringAttribute{Required: true, PlanModifiers: replaced},
		"content": schema.StringAttribute{Required: true},
	}}
}

func (file) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, res *resource.IdentitySchemaResponse) {
	res.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"path": identityschema.StringAttribute{RequiredForImport: true},
	}}
}

func write(model fileModel, diagnostics *diag.Diagnostics) {
	if err := os.WriteFile(model.Path.ValueString(), []byte(model.Content.ValueString()), 0o666); err != nil {
		diagnostics.AddError("The file can't be written", err.Error())
	}
}

func (file) Create(ctx context.Context, req resource.CreateRequest, res *resource.CreateResponse) {
	var model fileModel
	res.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	write(model, &res.Diagnostics)
	res.Diagnostics.Append(res.State.Set(ctx, model)...)
	res.Diagnostics.Append(res.Identity.SetAttribute(ctx, path.Root("path"), model.Path)...)
}

func (file) Read(ctx context.Context, req resource.ReadRequest, res *resource.ReadResponse) {
	var model fileModel
	res.Diagnostics.Append(req.State.Get(ctx, &model)...)
	content, err := os.ReadFile(model.Path.ValueString())
	if os.IsNotExist(err) {
		res.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		res.Diagnostics.AddError("The file can't be read", err.Error())
		return
	}
	model.Content = types.StringValue(string(content))
	res.Diagnostics.Append(res.State.Set(ctx, model)...)
	res.Diagnostics.Append(res.Identity.SetAttribute(ctx, path.Root("path"), model.Path)...)
}

func (file) Update(ctx context.Context, req resource.UpdateRequest, res *resource.UpdateResponse) {
	var model fileModel
	res.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	write(model, &res.Diagnostics)
	res.Diagnostics.Append(res.State.Set(ctx, model)...)
	res.Diagnostics.Append(res.Identity.SetAttribute(ctx, path.Root("path"), model.Path)...)
}

func (file) Delete(ctx context.Context, req resource.DeleteRequest, res *resource.DeleteResponse) {
	var model fileModel
	res.Diagnostics.Append(req.State.Get(ctx, &model)...)
	if err := os.Remove(model.Path.ValueString()); err != nil && !os.IsNotExist(err) {
		res.Diagnostics.AddError("The file can't be removed", err.Error())
	}
}

func (file) ImportState(ctx context.Context, req resource.ImportStateRequest, res *resource.ImportStateResponse) {
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("path"), path.Root("path"), req, res)
}

func (file) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, res *list.ListResourceSchemaResponse) {
	res.Schema = listschema.Schema{Attributes: map[string]listschema.Attribute{
		"folder": listschema.StringAttribute{Required: true},
	}}
}

type listModel struct {
	Folder types.String `tfsdk:"folder"`
}

// List gives the files in the order of their names. A FIFO is read until its end: a test that holds it holds the query.
func (file) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var model listModel
	diagnostics := req.Config.Get(ctx, &model)
	entries, err := os.ReadDir(model.Folder.ValueString())
	if err != nil {
		diagnostics.AddError("The folder can't be listed", err.Error())
	}
	if diagnostics.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diagnostics)
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		for i, entry := range entries {
			if int64(i) >= req.Limit || !push(found(ctx, req, filepath.Join(model.Folder.ValueString(), entry.Name()))) {
				return
			}
		}
	}
}

func found(ctx context.Context, req list.ListRequest, name string) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = filepath.Base(name)
	result.Diagnostics.Append(result.Identity.SetAttribute(ctx, path.Root("path"), name)...)
	content, err := os.ReadFile(name)
	if err != nil {
		result.Diagnostics.AddError("The file can't be read", err.Error())
	} else if req.IncludeResource {
		result.Diagnostics.Append(result.Resource.Set(ctx, fileModel{types.StringValue(name), types.StringValue(string(content))})...)
	}
	return result
}
