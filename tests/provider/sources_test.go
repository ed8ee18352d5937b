// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"crypto/md5"
	"fmt"
	"reflect"

	"github.com/hashicorp/go-tfe"
)

// fill creates the objects that data sources find.
func (w *world) fill() {
	must(w.c.SSHKeys.Create(ctx, w.org, tfe.SSHKeyCreateOptions{Name: value("base"), Value: value("private key")}))
	must(w.c.TeamAccess.Add(ctx, tfe.TeamAccessAddOptions{Access: value(tfe.AccessRead), Team: w.team, Workspace: w.workspace}))
	must(w.c.TeamProjectAccess.Add(ctx, tfe.TeamProjectAccessAddOptions{Access: tfe.TeamProjectAccessRead, Team: w.team, Project: w.project}))
	must(w.c.Variables.Create(ctx, w.workspace.ID, tfe.VariableCreateOptions{Key: value("base"), Value: value("v"), Category: value(tfe.CategoryTerraform)}))
	must(w.c.VariableSetVariables.Create(ctx, w.varset.ID, &tfe.VariableSetVariableCreateOptions{Key: value("base"), Value: value("v"), Category: value(tfe.CategoryEnv)}))
	must(w.c.WorkspaceRunTasks.Create(ctx, w.workspace.ID, tfe.WorkspaceRunTaskCreateOptions{EnforcementLevel: tfe.Advisory, RunTask: w.task}))
	if err := w.c.Workspaces.AddTags(ctx, w.workspace.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{Name: "base"}}}); err != nil {
		panic(err)
	}
	must(w.c.Workspaces.Lock(ctx, w.workspace.ID, tfe.WorkspaceLockOptions{}))
	state := `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "line", "outputs": {"base": {"value": "v", "type": "string"}}, "resources": []}`
	must(w.c.StateVersions.Upload(ctx, w.workspace.ID, tfe.StateVersionUploadOptions{
		StateVersionCreateOptions: tfe.StateVersionCreateOptions{Serial: value(int64(1)), Lineage: value("line"), MD5: value(md5Of(state))}, RawState: []byte(state)}))
	must(w.c.Workspaces.Unlock(ctx, w.workspace.ID))
}

func md5Of(text string) string { return fmt.Sprintf("%x", md5.Sum([]byte(text))) }

// Returns the items of a list.
func items[T any](list *T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return reflect.ValueOf(list).Elem().FieldByName("Items").Interface(), nil
}

func named[T any](items []T, name func(T) string, wanted string) (any, error) {
	return find(items, func(one T) bool { return name(one) == wanted })
}

var sources = []source{
	{"data.tfe_saml_settings", func(w *world) (any, error) { return w.c.Admin.Settings.SAML.Read(ctx) }},
	{"data.tfe_organization", func(w *world) (any, error) { return w.c.Organizations.Read(ctx, w.org) }},
	{"data.tfe_organizations", func(w *world) (any, error) {
		return items(w.c.Organizations.List(ctx, &tfe.OrganizationListOptions{Query: w.org}))
	}},
	{"data.tfe_organization_members", func(w *world) (any, error) {
		return items(w.c.OrganizationMemberships.List(ctx, w.org, &tfe.OrganizationMembershipListOptions{Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser}}))
	}},
	{"data.tfe_organization_membership", func(w *world) (any, error) {
		return items(w.c.OrganizationMemberships.List(ctx, w.org, &tfe.OrganizationMembershipListOptions{Emails: []string{w.mark + "@example.com"}}))
	}},
	{"data.tfe_organization_run_task", func(w *world) (any, error) {
		list, err := w.c.RunTasks.List(ctx, w.org, nil)
		if err != nil {
			return nil, err
		}
		return named(list.Items, func(one *tfe.RunTask) string { return one.Name }, "base")
	}},
	{"data.tfe_organization_run_task_global_settings", func(w *world) (any, error) {
		found, err := w.c.RunTasks.Read(ctx, w.task.ID)
		if err != nil {
			return nil, err
		}
		return found.Global, nil
	}},
	{"data.tfe_organization_tags", func(w *world) (any, error) {
		return items(w.c.OrganizationTags.List(ctx, w.org, nil))
	}},
	{"data.tfe_agent_pool", func(w *world) (any, error) {
		return items(w.c.AgentPools.List(ctx, w.org, &tfe.AgentPoolListOptions{Query: "base"}))
	}},
	{"data.tfe_policy_set", func(w *world) (any, error) {
		return items(w.c.PolicySets.List(ctx, w.org, &tfe.PolicySetListOptions{Search: "base"}))
	}},
	{"data.tfe_project", func(w *world) (any, error) {
		list, err := w.c.Projects.List(ctx, w.org, &tfe.ProjectListOptions{Name: "base"})
		if err != nil || len(list.Items) != 1 {
			return nil, fmt.Errorf("%v %w", list, err)
		}
		workspaces, err := w.c.Workspaces.List(ctx, w.org, &tfe.WorkspaceListOptions{ProjectID: list.Items[0].ID})
		if err != nil {
			return nil, err
		}
		return workspaces.Items, nil
	}},
	{"data.tfe_projects", func(w *world) (any, error) {
		return items(w.c.Projects.List(ctx, w.org, nil))
	}},
	{"data.tfe_ssh_key", func(w *world) (any, error) {
		list, err := w.c.SSHKeys.List(ctx, w.org, nil)
		if err != nil {
			return nil, err
		}
		return named(list.Items, func(one *tfe.SSHKey) string { return one.Name }, "base")
	}},
	{"data.tfe_team", func(w *world) (any, error) {
		return items(w.c.Teams.List(ctx, w.org, &tfe.TeamListOptions{Names: []string{"base"}}))
	}},
	{"data.tfe_teams", func(w *world) (any, error) {
		return items(w.c.Teams.List(ctx, w.org, nil))
	}},
	{"data.tfe_team_access", func(w *world) (any, error) {
		return items(w.c.TeamAccess.List(ctx, &tfe.TeamAccessListOptions{WorkspaceID: w.workspace.ID}))
	}},
	{"data.tfe_team_project_access", func(w *world) (any, error) {
		return items(w.c.TeamProjectAccess.List(ctx, tfe.TeamProjectAccessListOptions{ProjectID: w.project.ID}))
	}},
	{"data.tfe_variables", func(w *world) (any, error) {
		return items(w.c.Variables.List(ctx, w.workspace.ID, nil))
	}},
	{"data.tfe_variables (of a set)", func(w *world) (any, error) {
		return items(w.c.VariableSetVariables.List(ctx, w.varset.ID, nil))
	}},
	{"data.tfe_variable_set", func(w *world) (any, error) {
		return items(w.c.VariableSets.List(ctx, w.org, &tfe.VariableSetListOptions{Query: "base"}))
	}},
	{"data.tfe_workspace", func(w *world) (any, error) { return w.c.Workspaces.Read(ctx, w.org, "base") }},
	{"data.tfe_workspace_ids", func(w *world) (any, error) {
		return items(w.c.Workspaces.List(ctx, w.org, &tfe.WorkspaceListOptions{Tags: "base"}))
	}},
	{"data.tfe_workspace_run_task", func(w *world) (any, error) {
		return items(w.c.WorkspaceRunTasks.List(ctx, w.workspace.ID, nil))
	}},
	{"data.tfe_outputs", func(w *world) (any, error) {
		return items(w.c.StateVersionOutputs.ReadCurrent(ctx, w.workspace.ID))
	}},
}
