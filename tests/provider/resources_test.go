// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"reflect"
	"time"

	"github.com/hashicorp/go-tfe"
)

func value[T any](v T) *T { return &v }

// Returns the id of a created object.
func created[T any](made *T, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return reflect.ValueOf(made).Elem().FieldByName("ID").String(), nil
}

// Returns only the error of a call.
func changed[T any](_ T, err error) error { return err }

var none = tfe.ErrResourceNotFound

// The provider's update, with the policies of sign-in. The answer must have what was sent.
func organizationUpdate(w *world, name, email string, minutes int, role string) error {
	found, err := w.c.Organizations.Update(ctx, name, tfe.OrganizationUpdateOptions{Name: &name, Email: &email, SessionTimeout: &minutes, SessionRemember: value(2 * minutes),
		CollaboratorAuthPolicy: tfe.AuthPolicy(tfe.AuthPolicyPassword), OwnersTeamSAMLRoleID: &role, CostEstimationEnabled: value(true)})
	if err == nil && (found.SessionTimeout != minutes || found.SessionRemember != 2*minutes || found.CollaboratorAuthPolicy != tfe.AuthPolicyPassword || found.OwnersTeamSAMLRoleID != role) {
		return fmt.Errorf("the answer has other settings: %#v", found)
	}
	return err
}

// The certificate of an identity provider, as PEM.
func certificate() string {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	is := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: must(x509.CreateCertificate(rand.Reader, &is, &is, &key.PublicKey, key))}))
}

// The provider sends all settings each time, and stores those of the answer.
func samlSettings(w *world, enabled bool, cert, url, groups string) error {
	found, err := w.c.Admin.Settings.SAML.Update(ctx, tfe.AdminSAMLSettingsUpdateOptions{Enabled: &enabled, Debug: value(false), IDPCert: &cert, Certificate: value(""), PrivateKey: value(""),
		SLOEndpointURL: &url, SSOEndpointURL: &url, AttrUsername: value("Username"), AttrGroups: &groups, AttrSiteAdmin: value("SiteAdmin"), SiteAdminRole: value("site-admins"),
		SSOAPITokenSessionTimeout: value(1209600), TeamManagementEnabled: &enabled, AuthnRequestsSigned: value(false), WantAssertionsSigned: value(false),
		SignatureSigningMethod: value("SHA256"), SignatureDigestMethod: value("SHA256")})
	if err == nil && (found.Enabled != enabled || found.IDPCert != cert || found.SLOEndpointURL != url || found.SSOEndpointURL != url || found.AttrGroups != groups ||
		found.AttrUsername != "Username" || found.SSOAPITokenSessionTimeout != 1209600 || found.TeamManagementEnabled != enabled || found.SignatureDigestMethod != "SHA256") {
		return fmt.Errorf("the answer has other settings: %#v", found)
	}
	return err
}

// tokens of the organization: the usual one, and the one of the audit trail.
func organizationToken(name string, kind *tfe.TokenType) resource {
	return resource{name: name,
		create: func(w *world) (string, error) {
			_, err := w.c.OrganizationTokens.CreateWithOptions(ctx, w.org, tfe.OrganizationTokenCreateOptions{TokenType: kind})
			return w.org, err
		},
		read: func(w *world, id string) (any, error) {
			return w.c.OrganizationTokens.ReadWithOptions(ctx, id, tfe.OrganizationTokenReadOptions{TokenType: kind})
		},
		destroy: func(w *world, id string) error {
			return w.c.OrganizationTokens.DeleteWithOptions(ctx, id, tfe.OrganizationTokenDeleteOptions{TokenType: kind})
		}}
}

// A member of a team, by the membership or by the user's name.
func teamMember(name string, options func(w *world) (add tfe.TeamMemberAddOptions, remove tfe.TeamMemberRemoveOptions)) resource {
	return resource{name: name,
		create: func(w *world) (string, error) {
			add, _ := options(w)
			return w.team.ID, w.c.TeamMembers.Add(ctx, w.team.ID, add)
		},
		read: func(w *world, id string) (any, error) {
			add, _ := options(w)
			users, err := w.c.TeamMembers.ListUsers(ctx, id)
			if err != nil {
				return nil, err
			}
			members, err := w.c.TeamMembers.ListOrganizationMemberships(ctx, id)
			if err != nil {
				return nil, err
			}
			if len(add.Usernames) > 0 {
				return linked(users, func(one *tfe.User) string { return one.Username }, add.Usernames[0])
			}
			return linked(members, func(one *tfe.OrganizationMembership) string { return one.ID }, add.OrganizationMembershipIDs[0])
		},
		destroy: func(w *world, id string) error {
			_, remove := options(w)
			return w.c.TeamMembers.Remove(ctx, id, remove)
		}}
}

func byMembership(w *world) (tfe.TeamMemberAddOptions, tfe.TeamMemberRemoveOptions) {
	ids := []string{w.member.ID}
	return tfe.TeamMemberAddOptions{OrganizationMembershipIDs: ids}, tfe.TeamMemberRemoveOptions{OrganizationMembershipIDs: ids}
}

func byName(w *world) (tfe.TeamMemberAddOptions, tfe.TeamMemberRemoveOptions) {
	names := []string{must(w.c.Users.ReadCurrent(ctx)).Username}
	return tfe.TeamMemberAddOptions{Usernames: names}, tfe.TeamMemberRemoveOptions{Usernames: names}
}

// An object that a policy set is attached to, or excluded from.
func attachment(name string, add, remove func(w *world) error, list func(set *tfe.PolicySet) []string, wanted func(w *world) string) resource {
	return resource{name: name,
		create: func(w *world) (string, error) { return w.set.ID, add(w) },
		read: func(w *world, id string) (any, error) {
			set, err := w.c.PolicySets.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			return linked(list(set), func(one string) string { return one }, wanted(w))
		},
		destroy: func(w *world, _ string) error { return remove(w) }}
}

func projectIDs(list []*tfe.Project) []string {
	ids := []string{}
	for _, one := range list {
		ids = append(ids, one.ID)
	}
	return ids
}

// An object that may use a pool.
func poolUse(name string, set func(w *world, on bool) error, list func(pool *tfe.AgentPool) []string, wanted func(w *world) string) resource {
	return resource{name: name,
		create: func(w *world) (string, error) { return w.pool.ID, set(w, true) },
		read: func(w *world, id string) (any, error) {
			pool, err := w.c.AgentPools.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			return linked(list(pool), func(one string) string { return one }, wanted(w))
		},
		destroy: func(w *world, _ string) error { return set(w, false) }}
}

func variableSetUse(name string, add, remove func(w *world) error, list func(set *tfe.VariableSet) []string, wanted func(w *world) string) resource {
	return resource{name: name,
		create: func(w *world) (string, error) { return w.varset.ID, add(w) },
		read: func(w *world, id string) (any, error) {
			set, err := w.c.VariableSets.Read(ctx, id, &tfe.VariableSetReadOptions{Include: &[]tfe.VariableSetIncludeOpt{tfe.VariableSetWorkspaces, tfe.VariableSetProjects}})
			if err != nil {
				return nil, err
			}
			return linked(list(set), func(one string) string { return one }, wanted(w))
		},
		destroy: func(w *world, _ string) error { return remove(w) }}
}

func thatProject(w *world) string   { return w.project.ID }
func thatWorkspace(w *world) string { return w.workspace.ID }

var resources = []resource{
	{name: "tfe_organization",
		create: func(w *world) (string, error) {
			made, err := w.c.Organizations.Create(ctx, tfe.OrganizationCreateOptions{Name: value(w.mark + "-more"), Email: value("a@example.com")})
			if err != nil {
				return "", err
			}
			return made.Name, organizationUpdate(w, made.Name, "a@example.com", 480, "owners-role")
		},
		read:    func(w *world, id string) (any, error) { return w.c.Organizations.Read(ctx, id) },
		update:  func(w *world, id string) error { return organizationUpdate(w, id, "b@example.com", 60, "other-role") },
		destroy: func(w *world, id string) error { return w.c.Organizations.Delete(ctx, id) }},
	{name: "tfe_organization_default_settings", stays: true,
		create: func(w *world) (string, error) {
			_, err := w.c.Organizations.Update(ctx, w.org, tfe.OrganizationUpdateOptions{DefaultExecutionMode: value("local")})
			return w.org, err
		},
		read: func(w *world, id string) (any, error) {
			found, err := w.c.Organizations.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			return found.DefaultExecutionMode, nil
		},
		update: func(w *world, id string) error {
			return changed(w.c.Organizations.Update(ctx, id, tfe.OrganizationUpdateOptions{DefaultExecutionMode: value("remote")}))
		},
		destroy: func(w *world, id string) error {
			return changed(w.c.Organizations.Update(ctx, id, tfe.OrganizationUpdateOptions{DefaultExecutionMode: value("remote")}))
		}},
	{name: "tfe_organization_membership",
		create: func(w *world) (string, error) {
			return created(w.c.OrganizationMemberships.Create(ctx, w.org, tfe.OrganizationMembershipCreateOptions{Email: value(w.mark + "-more@example.com")}))
		},
		read: func(w *world, id string) (any, error) {
			return w.c.OrganizationMemberships.ReadWithOptions(ctx, id, tfe.OrganizationMembershipReadOptions{Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser}})
		},
		imports: func(w *world, _ string) (any, error) {
			list, err := w.c.OrganizationMemberships.List(ctx, w.org, &tfe.OrganizationMembershipListOptions{Emails: []string{w.mark + "-more@example.com"}})
			if err != nil || len(list.Items) != 1 {
				return nil, fmt.Errorf("%v %w", list, err)
			}
			return w.c.OrganizationMemberships.ReadWithOptions(ctx, list.Items[0].ID, tfe.OrganizationMembershipReadOptions{Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser}})
		},
		destroy: func(w *world, id string) error { return w.c.OrganizationMemberships.Delete(ctx, id) }},
	organizationToken("tfe_organization_token", nil),
	organizationToken("tfe_audit_trail_token", value(tfe.AuditTrailToken)),
	{name: "tfe_organization_run_task",
		create: func(w *world) (string, error) {
			return created(w.c.RunTasks.Create(ctx, w.org, tfe.RunTaskCreateOptions{Name: "more", URL: w.taskURL, Category: "task", Description: value("d"), HMACKey: value("key")}))
		},
		read: func(w *world, id string) (any, error) { return w.c.RunTasks.Read(ctx, id) },
		imports: func(w *world, _ string) (any, error) {
			list, err := w.c.RunTasks.List(ctx, w.org, nil)
			if err != nil {
				return nil, err
			}
			found, err := find(list.Items, func(one *tfe.RunTask) bool { return one.Name == "more" })
			if err != nil {
				return nil, err
			}
			return w.c.RunTasks.Read(ctx, found.ID)
		},
		update: func(w *world, id string) error {
			return changed(w.c.RunTasks.Update(ctx, id, tfe.RunTaskUpdateOptions{Enabled: value(false)}))
		},
		destroy: func(w *world, id string) error { return w.c.RunTasks.Delete(ctx, id) }},
	{name: "tfe_organization_run_task_global_settings", stays: true,
		create: func(w *world) (string, error) {
			_, err := w.c.RunTasks.Update(ctx, w.task.ID, tfe.RunTaskUpdateOptions{Global: &tfe.GlobalRunTaskOptions{
				Enabled: value(true), Stages: &[]tfe.Stage{tfe.PostPlan}, EnforcementLevel: value(tfe.Advisory)}})
			return w.task.ID, err
		},
		read: func(w *world, id string) (any, error) {
			found, err := w.c.RunTasks.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			return found.Global, nil
		},
		update: func(w *world, id string) error {
			return changed(w.c.RunTasks.Update(ctx, id, tfe.RunTaskUpdateOptions{Global: &tfe.GlobalRunTaskOptions{
				Enabled: value(true), Stages: &[]tfe.Stage{tfe.PrePlan, tfe.PostApply}, EnforcementLevel: value(tfe.Mandatory)}}))
		},
		destroy: func(w *world, id string) error {
			return changed(w.c.RunTasks.Update(ctx, id, tfe.RunTaskUpdateOptions{Global: &tfe.GlobalRunTaskOptions{Enabled: value(false)}}))
		}},
	{name: "tfe_project",
		create: func(w *world) (string, error) {
			return created(w.c.Projects.Create(ctx, w.org, tfe.ProjectCreateOptions{Name: "more", Description: value("d"), TagBindings: []*tfe.TagBinding{{Key: "k", Value: "v"}}}))
		},
		read: func(w *world, id string) (any, error) {
			return w.c.Projects.ReadWithOptions(ctx, id, tfe.ProjectReadOptions{Include: []tfe.ProjectIncludeOpt{tfe.ProjectEffectiveTagBindings}})
		},
		update: func(w *world, id string) error {
			return changed(w.c.Projects.Update(ctx, id, tfe.ProjectUpdateOptions{Name: value("changed"), TagBindings: []*tfe.TagBinding{{Key: "k", Value: "other"}}}))
		},
		destroy: func(w *world, id string) error { return w.c.Projects.Delete(ctx, id) }},
	{name: "tfe_project_settings", stays: true,
		create: func(w *world) (string, error) {
			_, err := w.c.Projects.Update(ctx, w.project.ID, tfe.ProjectUpdateOptions{
				DefaultExecutionMode: value("local"), SettingOverwrites: &tfe.ProjectSettingOverwrites{ExecutionMode: value(true), AgentPool: value(true)}})
			return w.project.ID, err
		},
		read: func(w *world, id string) (any, error) {
			found, err := w.c.Projects.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			return found.DefaultExecutionMode, nil
		},
		update: func(w *world, id string) error {
			return changed(w.c.Projects.Update(ctx, id, tfe.ProjectUpdateOptions{DefaultExecutionMode: value("remote")}))
		},
		destroy: func(w *world, id string) error {
			return changed(w.c.Projects.Update(ctx, id, tfe.ProjectUpdateOptions{SettingOverwrites: &tfe.ProjectSettingOverwrites{ExecutionMode: value(false), AgentPool: value(false)}}))
		}},
	attachment("tfe_project_policy_set",
		func(w *world) error {
			return w.c.PolicySets.AddProjects(ctx, w.set.ID, tfe.PolicySetAddProjectsOptions{Projects: []*tfe.Project{w.project}})
		},
		func(w *world) error {
			return w.c.PolicySets.RemoveProjects(ctx, w.set.ID, tfe.PolicySetRemoveProjectsOptions{Projects: []*tfe.Project{w.project}})
		},
		func(set *tfe.PolicySet) []string { return projectIDs(set.Projects) }, thatProject),
	attachment("tfe_project_policy_set_exclusion",
		func(w *world) error {
			return w.c.PolicySets.AddProjectExclusions(ctx, w.set.ID, tfe.PolicySetAddProjectExclusionsOptions{ProjectExclusions: []*tfe.Project{w.project}})
		},
		func(w *world) error {
			return w.c.PolicySets.RemoveProjectExclusions(ctx, w.set.ID, tfe.PolicySetRemoveProjectExclusionsOptions{ProjectExclusions: []*tfe.Project{w.project}})
		},
		func(set *tfe.PolicySet) []string { return projectIDs(set.ProjectExclusions) }, thatProject),
	attachment("tfe_workspace_policy_set",
		func(w *world) error {
			return w.c.PolicySets.AddWorkspaces(ctx, w.set.ID, tfe.PolicySetAddWorkspacesOptions{Workspaces: []*tfe.Workspace{w.workspace}})
		},
		func(w *world) error {
			return w.c.PolicySets.RemoveWorkspaces(ctx, w.set.ID, tfe.PolicySetRemoveWorkspacesOptions{Workspaces: []*tfe.Workspace{w.workspace}})
		},
		func(set *tfe.PolicySet) []string { return workspaceNames(set.Workspaces) }, thatWorkspace),
	attachment("tfe_workspace_policy_set_exclusion",
		func(w *world) error {
			return w.c.PolicySets.AddWorkspaceExclusions(ctx, w.set.ID, tfe.PolicySetAddWorkspaceExclusionsOptions{WorkspaceExclusions: []*tfe.Workspace{w.workspace}})
		},
		func(w *world) error {
			return w.c.PolicySets.RemoveWorkspaceExclusions(ctx, w.set.ID, tfe.PolicySetRemoveWorkspaceExclusionsOptions{WorkspaceExclusions: []*tfe.Workspace{w.workspace}})
		},
		func(set *tfe.PolicySet) []string { return workspaceNames(set.WorkspaceExclusions) }, thatWorkspace),
	attachment("tfe_policy_set (its policies)",
		func(w *world) error {
			return w.c.PolicySets.AddPolicies(ctx, w.set.ID, tfe.PolicySetAddPoliciesOptions{Policies: []*tfe.Policy{w.policy}})
		},
		func(w *world) error {
			return w.c.PolicySets.RemovePolicies(ctx, w.set.ID, tfe.PolicySetRemovePoliciesOptions{Policies: []*tfe.Policy{w.policy}})
		},
		func(set *tfe.PolicySet) []string {
			ids := []string{}
			for _, one := range set.Policies {
				ids = append(ids, one.ID)
			}
			return ids
		}, func(w *world) string { return w.policy.ID }),
	variableSetUse("tfe_workspace_variable_set",
		func(w *world) error {
			return w.c.VariableSets.ApplyToWorkspaces(ctx, w.varset.ID, &tfe.VariableSetApplyToWorkspacesOptions{Workspaces: []*tfe.Workspace{w.workspace}})
		},
		func(w *world) error {
			return w.c.VariableSets.RemoveFromWorkspaces(ctx, w.varset.ID, &tfe.VariableSetRemoveFromWorkspacesOptions{Workspaces: []*tfe.Workspace{w.workspace}})
		},
		func(set *tfe.VariableSet) []string { return workspaceNames(set.Workspaces) }, thatWorkspace),
	variableSetUse("tfe_project_variable_set",
		func(w *world) error {
			return w.c.VariableSets.ApplyToProjects(ctx, w.varset.ID, tfe.VariableSetApplyToProjectsOptions{Projects: []*tfe.Project{w.project}})
		},
		func(w *world) error {
			return w.c.VariableSets.RemoveFromProjects(ctx, w.varset.ID, tfe.VariableSetRemoveFromProjectsOptions{Projects: []*tfe.Project{w.project}})
		},
		func(set *tfe.VariableSet) []string { return projectIDs(set.Projects) }, thatProject),
	{name: "tfe_workspace",
		create: func(w *world) (string, error) {
			return created(w.c.Workspaces.Create(ctx, w.org, tfe.WorkspaceCreateOptions{Name: value("more"), Description: value("d"), Project: w.project,
				AutoApply: value(true), TerraformVersion: value("1.11.4"), WorkingDirectory: value("a/b"), TagBindings: []*tfe.TagBinding{{Key: "k", Value: "v"}}}))
		},
		read: func(w *world, id string) (any, error) {
			return w.c.Workspaces.ReadByIDWithOptions(ctx, id, &tfe.WorkspaceReadOptions{Include: []tfe.WSIncludeOpt{tfe.WSEffectiveTagBindings}})
		},
		imports: func(w *world, _ string) (any, error) {
			found, err := w.c.Workspaces.Read(ctx, w.org, "more")
			if err != nil {
				return nil, err
			}
			return w.c.Workspaces.ReadByIDWithOptions(ctx, found.ID, &tfe.WorkspaceReadOptions{Include: []tfe.WSIncludeOpt{tfe.WSEffectiveTagBindings}})
		},
		update: func(w *world, id string) error {
			return changed(w.c.Workspaces.UpdateByID(ctx, id, tfe.WorkspaceUpdateOptions{Name: value("changed"), AutoApply: value(false), TagBindings: []*tfe.TagBinding{{Key: "other", Value: "v"}}}))
		},
		destroy: func(w *world, id string) error { return w.c.Workspaces.SafeDeleteByID(ctx, id) }},
	{name: "tfe_workspace_settings", stays: true,
		create: func(w *world) (string, error) {
			_, err := w.c.Workspaces.UpdateByID(ctx, w.workspace.ID, tfe.WorkspaceUpdateOptions{ExecutionMode: value("local"), GlobalRemoteState: value(false),
				SettingOverwrites: &tfe.WorkspaceSettingOverwritesOptions{ExecutionMode: value(true), AgentPool: value(true)}})
			if err != nil {
				return "", err
			}
			return w.workspace.ID, w.c.Workspaces.UpdateRemoteStateConsumers(ctx, w.workspace.ID, tfe.WorkspaceUpdateRemoteStateConsumersOptions{Workspaces: []*tfe.Workspace{w.other}})
		},
		read: func(w *world, id string) (any, error) {
			found, err := w.c.Workspaces.ReadByID(ctx, id)
			if err != nil {
				return nil, err
			}
			consumers, err := w.c.Workspaces.ListRemoteStateConsumers(ctx, id, nil)
			if err != nil {
				return nil, err
			}
			return []any{found.ExecutionMode, found.GlobalRemoteState, *found.SettingOverwrites, workspaceNames(consumers.Items)}, nil
		},
		update: func(w *world, id string) error {
			return changed(w.c.Workspaces.UpdateByID(ctx, id, tfe.WorkspaceUpdateOptions{ExecutionMode: value("remote"), GlobalRemoteState: value(true)}))
		},
		destroy: func(w *world, id string) error {
			return changed(w.c.Workspaces.UpdateByID(ctx, id, tfe.WorkspaceUpdateOptions{GlobalRemoteState: value(false),
				SettingOverwrites: &tfe.WorkspaceSettingOverwritesOptions{ExecutionMode: value(false), AgentPool: value(false)}}))
		}},
	{name: "tfe_workspace_run_task",
		create: func(w *world) (string, error) {
			return created(w.c.WorkspaceRunTasks.Create(ctx, w.workspace.ID, tfe.WorkspaceRunTaskCreateOptions{
				EnforcementLevel: tfe.Advisory, RunTask: w.task, Stages: &[]tfe.Stage{tfe.PostPlan}}))
		},
		read: func(w *world, id string) (any, error) { return w.c.WorkspaceRunTasks.Read(ctx, w.workspace.ID, id) },
		imports: func(w *world, _ string) (any, error) {
			list, err := w.c.WorkspaceRunTasks.List(ctx, w.workspace.ID, nil)
			if err != nil {
				return nil, err
			}
			found, err := find(list.Items, func(one *tfe.WorkspaceRunTask) bool { return one.RunTask.ID == w.task.ID })
			if err != nil {
				return nil, err
			}
			return w.c.WorkspaceRunTasks.Read(ctx, w.workspace.ID, found.ID)
		},
		update: func(w *world, id string) error {
			return changed(w.c.WorkspaceRunTasks.Update(ctx, w.workspace.ID, id, tfe.WorkspaceRunTaskUpdateOptions{EnforcementLevel: tfe.Mandatory}))
		},
		destroy: func(w *world, id string) error { return w.c.WorkspaceRunTasks.Delete(ctx, w.workspace.ID, id) }},
	{name: "tfe_variable",
		create: func(w *world) (string, error) {
			return created(w.c.Variables.Create(ctx, w.workspace.ID, tfe.VariableCreateOptions{Key: value("more"), Value: value("v"), Category: value(tfe.CategoryTerraform), HCL: value(true)}))
		},
		read: func(w *world, id string) (any, error) { return w.c.Variables.Read(ctx, w.workspace.ID, id) },
		update: func(w *world, id string) error {
			return changed(w.c.Variables.Update(ctx, w.workspace.ID, id, tfe.VariableUpdateOptions{Value: value("other"), Sensitive: value(true)}))
		},
		destroy: func(w *world, id string) error { return w.c.Variables.Delete(ctx, w.workspace.ID, id) }},
	{name: "tfe_variable (of a set)",
		create: func(w *world) (string, error) {
			return created(w.c.VariableSetVariables.Create(ctx, w.varset.ID, &tfe.VariableSetVariableCreateOptions{Key: value("more"), Value: value("v"), Category: value(tfe.CategoryEnv)}))
		},
		read: func(w *world, id string) (any, error) { return w.c.VariableSetVariables.Read(ctx, w.varset.ID, id) },
		update: func(w *world, id string) error {
			return changed(w.c.VariableSetVariables.Update(ctx, w.varset.ID, id, &tfe.VariableSetVariableUpdateOptions{Value: value("other")}))
		},
		destroy: func(w *world, id string) error { return w.c.VariableSetVariables.Delete(ctx, w.varset.ID, id) }},
	{name: "tfe_variable_set",
		create: func(w *world) (string, error) {
			return created(w.c.VariableSets.Create(ctx, w.org, &tfe.VariableSetCreateOptions{Name: value("more"), Description: value("d"), Global: value(true)}))
		},
		read: func(w *world, id string) (any, error) { return w.c.VariableSets.Read(ctx, id, nil) },
		imports: func(w *world, _ string) (any, error) {
			list, err := w.c.VariableSets.List(ctx, w.org, nil)
			if err != nil {
				return nil, err
			}
			found, err := find(list.Items, func(one *tfe.VariableSet) bool { return one.Name == "more" })
			if err != nil {
				return nil, err
			}
			return w.c.VariableSets.Read(ctx, found.ID, nil)
		},
		update: func(w *world, id string) error {
			return changed(w.c.VariableSets.Update(ctx, id, &tfe.VariableSetUpdateOptions{Name: value("changed"), Global: value(false), Priority: value(true)}))
		},
		destroy: func(w *world, id string) error { return w.c.VariableSets.Delete(ctx, id) }},
	policyKind("tfe_policy", tfe.OPA, "package p\ndeny[\"no\"] { false }\n", "package p\ndeny[\"never\"] { false }\n"),
	policyKind("tfe_sentinel_policy", tfe.Sentinel, "main = rule { true }\n", "main = rule { not false }\n"),
	{name: "tfe_policy_set",
		create: func(w *world) (string, error) {
			return created(w.c.PolicySets.Create(ctx, w.org, tfe.PolicySetCreateOptions{Name: value("more"), Kind: tfe.OPA, Description: value("d"), Overridable: value(true),
				Policies: []*tfe.Policy{w.policy}, Workspaces: []*tfe.Workspace{w.workspace}}))
		},
		read: func(w *world, id string) (any, error) { return w.c.PolicySets.Read(ctx, id) },
		update: func(w *world, id string) error {
			return changed(w.c.PolicySets.Update(ctx, id, tfe.PolicySetUpdateOptions{Name: value("changed"), Overridable: value(false)}))
		},
		destroy: func(w *world, id string) error { return w.c.PolicySets.Delete(ctx, id) }},
	{name: "tfe_policy_set_parameter",
		create: func(w *world) (string, error) {
			return created(w.c.PolicySetParameters.Create(ctx, w.set.ID, tfe.PolicySetParameterCreateOptions{Key: value("more"), Value: value("v"), Category: value(tfe.CategoryPolicySet)}))
		},
		read: func(w *world, id string) (any, error) { return w.c.PolicySetParameters.Read(ctx, w.set.ID, id) },
		update: func(w *world, id string) error {
			return changed(w.c.PolicySetParameters.Update(ctx, w.set.ID, id, tfe.PolicySetParameterUpdateOptions{Value: value("other")}))
		},
		destroy: func(w *world, id string) error { return w.c.PolicySetParameters.Delete(ctx, w.set.ID, id) }},
	{name: "tfe_team",
		create: func(w *world) (string, error) {
			return created(w.c.Teams.Create(ctx, w.org, tfe.TeamCreateOptions{Name: value("more"), Visibility: value("organization"), SSOTeamID: value("group-1"),
				OrganizationAccess: &tfe.OrganizationAccessOptions{ManagePolicies: value(true), ReadWorkspaces: value(true)}}))
		},
		read: func(w *world, id string) (any, error) {
			team, err := w.c.Teams.Read(ctx, id)
			if err == nil && team.SSOTeamID != map[string]string{"more": "group-1", "changed": "group-2"}[team.Name] {
				err = fmt.Errorf("the team's sso-team-id is %q", team.SSOTeamID)
			}
			return team, err
		},
		imports: func(w *world, _ string) (any, error) {
			list, err := w.c.Teams.List(ctx, w.org, &tfe.TeamListOptions{Names: []string{"more"}})
			if err != nil || len(list.Items) != 1 {
				return nil, fmt.Errorf("%v %w", list, err)
			}
			return w.c.Teams.Read(ctx, list.Items[0].ID)
		},
		update: func(w *world, id string) error {
			return changed(w.c.Teams.Update(ctx, id, tfe.TeamUpdateOptions{Name: value("changed"), SSOTeamID: value("group-2"), OrganizationAccess: &tfe.OrganizationAccessOptions{ManageWorkspaces: value(true)}}))
		},
		destroy: func(w *world, id string) error { return w.c.Teams.Delete(ctx, id) }},
	{name: "tfe_team_access",
		create: func(w *world) (string, error) {
			return created(w.c.TeamAccess.Add(ctx, tfe.TeamAccessAddOptions{Access: value(tfe.AccessRead), Team: w.team, Workspace: w.workspace}))
		},
		read: func(w *world, id string) (any, error) { return w.c.TeamAccess.Read(ctx, id) },
		update: func(w *world, id string) error {
			return changed(w.c.TeamAccess.Update(ctx, id, tfe.TeamAccessUpdateOptions{Access: value(tfe.AccessCustom), Runs: value(tfe.RunsPermissionApply), WorkspaceLocking: value(true)}))
		},
		destroy: func(w *world, id string) error { return w.c.TeamAccess.Remove(ctx, id) }},
	{name: "tfe_team_project_access",
		create: func(w *world) (string, error) {
			return created(w.c.TeamProjectAccess.Add(ctx, tfe.TeamProjectAccessAddOptions{Access: tfe.TeamProjectAccessRead, Team: w.team, Project: w.project}))
		},
		read: func(w *world, id string) (any, error) { return w.c.TeamProjectAccess.Read(ctx, id) },
		update: func(w *world, id string) error {
			return changed(w.c.TeamProjectAccess.Update(ctx, id, tfe.TeamProjectAccessUpdateOptions{Access: value(tfe.TeamProjectAccessMaintain)}))
		},
		destroy: func(w *world, id string) error { return w.c.TeamProjectAccess.Remove(ctx, id) }},
	teamMember("tfe_team_organization_member", byMembership),
	teamMember("tfe_team_organization_members", byMembership),
	teamMember("tfe_team_member", byName),
	teamMember("tfe_team_members", byName),
	{name: "tfe_team_token",
		create: func(w *world) (string, error) {
			_, err := w.c.TeamTokens.Create(ctx, w.team.ID)
			return w.team.ID, err
		},
		read:    func(w *world, id string) (any, error) { return w.c.TeamTokens.Read(ctx, id) },
		destroy: func(w *world, id string) error { return w.c.TeamTokens.Delete(ctx, id) }},
	{name: "tfe_team_token (with a description)",
		create: func(w *world) (string, error) {
			return created(w.c.TeamTokens.CreateWithOptions(ctx, w.team.ID, tfe.TeamTokenCreateOptions{Description: value("more")}))
		},
		read:    func(w *world, id string) (any, error) { return w.c.TeamTokens.ReadByID(ctx, id) },
		destroy: func(w *world, id string) error { return w.c.TeamTokens.DeleteByID(ctx, id) }},
	{name: "tfe_agent_pool",
		create: func(w *world) (string, error) {
			return created(w.c.AgentPools.Create(ctx, w.org, tfe.AgentPoolCreateOptions{Name: value("more"), OrganizationScoped: value(true)}))
		},
		read: func(w *world, id string) (any, error) { return w.c.AgentPools.Read(ctx, id) },
		imports: func(w *world, _ string) (any, error) {
			list, err := w.c.AgentPools.List(ctx, w.org, &tfe.AgentPoolListOptions{Query: "more"})
			if err != nil || len(list.Items) != 1 {
				return nil, fmt.Errorf("%v %w", list, err)
			}
			return w.c.AgentPools.Read(ctx, list.Items[0].ID)
		},
		update: func(w *world, id string) error {
			return changed(w.c.AgentPools.Update(ctx, id, tfe.AgentPoolUpdateOptions{Name: value("changed"), OrganizationScoped: value(false)}))
		},
		destroy: func(w *world, id string) error { return w.c.AgentPools.Delete(ctx, id) }},
	poolUse("tfe_agent_pool_allowed_workspaces", func(w *world, on bool) error {
		options := tfe.AgentPoolAllowedWorkspacesUpdateOptions{AllowedWorkspaces: []*tfe.Workspace{}}
		if on {
			options.AllowedWorkspaces = append(options.AllowedWorkspaces, w.workspace)
		}
		_, err := w.c.AgentPools.UpdateAllowedWorkspaces(ctx, w.pool.ID, options)
		return err
	}, func(pool *tfe.AgentPool) []string { return workspaceNames(pool.AllowedWorkspaces) }, thatWorkspace),
	poolUse("tfe_agent_pool_allowed_projects", func(w *world, on bool) error {
		options := tfe.AgentPoolAllowedProjectsUpdateOptions{AllowedProjects: []*tfe.Project{}}
		if on {
			options.AllowedProjects = append(options.AllowedProjects, w.project)
		}
		_, err := w.c.AgentPools.UpdateAllowedProjects(ctx, w.pool.ID, options)
		return err
	}, func(pool *tfe.AgentPool) []string { return projectIDs(pool.AllowedProjects) }, thatProject),
	poolUse("tfe_agent_pool_excluded_workspaces", func(w *world, on bool) error {
		options := tfe.AgentPoolExcludedWorkspacesUpdateOptions{ExcludedWorkspaces: []*tfe.Workspace{}}
		if on {
			options.ExcludedWorkspaces = append(options.ExcludedWorkspaces, w.workspace)
		}
		_, err := w.c.AgentPools.UpdateExcludedWorkspaces(ctx, w.pool.ID, options)
		return err
	}, func(pool *tfe.AgentPool) []string { return workspaceNames(pool.ExcludedWorkspaces) }, thatWorkspace),
	{name: "tfe_agent_token",
		create: func(w *world) (string, error) {
			return created(w.c.AgentTokens.Create(ctx, w.pool.ID, tfe.AgentTokenCreateOptions{Description: value("more")}))
		},
		read:    func(w *world, id string) (any, error) { return w.c.AgentTokens.Read(ctx, id) },
		destroy: func(w *world, id string) error { return w.c.AgentTokens.Delete(ctx, id) }},
	{name: "tfe_ssh_key",
		create: func(w *world) (string, error) {
			return created(w.c.SSHKeys.Create(ctx, w.org, tfe.SSHKeyCreateOptions{Name: value("more"), Value: value("private key")}))
		},
		read: func(w *world, id string) (any, error) { return w.c.SSHKeys.Read(ctx, id) },
		update: func(w *world, id string) error {
			return changed(w.c.SSHKeys.Update(ctx, id, tfe.SSHKeyUpdateOptions{Name: value("changed")}))
		},
		destroy: func(w *world, id string) error { return w.c.SSHKeys.Delete(ctx, id) }},
	{name: "tfe_notification_configuration",
		create: func(w *world) (string, error) {
			return created(w.c.NotificationConfigurations.Create(ctx, w.workspace.ID, tfe.NotificationConfigurationCreateOptions{DestinationType: value(tfe.NotificationDestinationTypeGeneric),
				Enabled: value(false), Name: value("more"), Token: value("secret"), URL: value(w.taskURL), Triggers: []tfe.NotificationTriggerType{tfe.NotificationTriggerCreated}}))
		},
		read: func(w *world, id string) (any, error) { return w.c.NotificationConfigurations.Read(ctx, id) },
		update: func(w *world, id string) error {
			return changed(w.c.NotificationConfigurations.Update(ctx, id, tfe.NotificationConfigurationUpdateOptions{Name: value("changed"), Triggers: []tfe.NotificationTriggerType{tfe.NotificationTriggerErrored}}))
		},
		destroy: func(w *world, id string) error { return w.c.NotificationConfigurations.Delete(ctx, id) }},
	{name: "tfe_run_trigger",
		create: func(w *world) (string, error) {
			return created(w.c.RunTriggers.Create(ctx, w.workspace.ID, tfe.RunTriggerCreateOptions{Sourceable: w.other}))
		},
		read:    func(w *world, id string) (any, error) { return w.c.RunTriggers.Read(ctx, id) },
		destroy: func(w *world, id string) error { return w.c.RunTriggers.Delete(ctx, id) }},
	{name: "tfe_data_retention_policy",
		create: func(w *world) (string, error) {
			_, err := w.c.Workspaces.SetDataRetentionPolicyDeleteOlder(ctx, w.workspace.ID, tfe.DataRetentionPolicyDeleteOlderSetOptions{DeleteOlderThanNDays: 5})
			return w.workspace.ID, err
		},
		read: func(w *world, id string) (any, error) {
			return retention(w.c.Workspaces.ReadDataRetentionPolicyChoice(ctx, id))
		},
		update: func(w *world, id string) error {
			return changed(w.c.Workspaces.SetDataRetentionPolicyDontDelete(ctx, id, tfe.DataRetentionPolicyDontDeleteSetOptions{}))
		},
		destroy: func(w *world, id string) error { return w.c.Workspaces.DeleteDataRetentionPolicy(ctx, id) }},
	{name: "tfe_data_retention_policy (of an organization)",
		create: func(w *world) (string, error) {
			_, err := w.c.Organizations.SetDataRetentionPolicyDeleteOlder(ctx, w.org, tfe.DataRetentionPolicyDeleteOlderSetOptions{DeleteOlderThanNDays: 5})
			return w.org, err
		},
		read: func(w *world, id string) (any, error) {
			return retention(w.c.Organizations.ReadDataRetentionPolicyChoice(ctx, id))
		},
		destroy: func(w *world, id string) error { return w.c.Organizations.DeleteDataRetentionPolicy(ctx, id) }},
	{name: "tfe_terraform_version",
		create: func(w *world) (string, error) {
			return created(w.c.Admin.TerraformVersions.Create(ctx, tfe.AdminTerraformVersionCreateOptions{Version: value("9.9.1"), URL: value("https://example.com/a"), Sha: value(digest)}))
		},
		read: func(w *world, id string) (any, error) { return w.c.Admin.TerraformVersions.Read(ctx, id) },
		imports: func(w *world, _ string) (any, error) {
			list, err := w.c.Admin.TerraformVersions.List(ctx, &tfe.AdminTerraformVersionsListOptions{Filter: "9.9.1"})
			if err != nil || len(list.Items) != 1 {
				return nil, fmt.Errorf("%v %w", list, err)
			}
			return list.Items[0], nil
		},
		update: func(w *world, id string) error {
			return changed(w.c.Admin.TerraformVersions.Update(ctx, id, tfe.AdminTerraformVersionUpdateOptions{Deprecated: value(true), DeprecatedReason: value("old")}))
		},
		destroy: func(w *world, id string) error { return w.c.Admin.TerraformVersions.Delete(ctx, id) }},
	{name: "tfe_opa_version",
		create: func(w *world) (string, error) {
			return created(w.c.Admin.OPAVersions.Create(ctx, tfe.AdminOPAVersionCreateOptions{Version: "9.9.1", URL: "https://example.com/a", SHA: digest}))
		},
		read: func(w *world, id string) (any, error) { return w.c.Admin.OPAVersions.Read(ctx, id) },
		update: func(w *world, id string) error {
			return changed(w.c.Admin.OPAVersions.Update(ctx, id, tfe.AdminOPAVersionUpdateOptions{Enabled: value(false)}))
		},
		destroy: func(w *world, id string) error { return w.c.Admin.OPAVersions.Delete(ctx, id) }},
	{name: "tfe_saml_settings", stays: true,
		create: func(w *world) (string, error) {
			return "saml", samlSettings(w, true, certificate(), "https://id.example.com/saml", "MemberOf")
		},
		read: func(w *world, _ string) (any, error) { return w.c.Admin.Settings.SAML.Read(ctx) },
		update: func(w *world, _ string) error {
			return samlSettings(w, true, certificate(), "https://other.example.com/saml", "Groups")
		},
		destroy: func(w *world, _ string) error { return samlSettings(w, false, "", "", "MemberOf") }},
	{name: "tfe_sentinel_version",
		create: func(w *world) (string, error) {
			return created(w.c.Admin.SentinelVersions.Create(ctx, tfe.AdminSentinelVersionCreateOptions{Version: "9.9.1", URL: "https://example.com/a", SHA: digest}))
		},
		read: func(w *world, id string) (any, error) { return w.c.Admin.SentinelVersions.Read(ctx, id) },
		update: func(w *world, id string) error {
			return changed(w.c.Admin.SentinelVersions.Update(ctx, id, tfe.AdminSentinelVersionUpdateOptions{Beta: value(true)}))
		},
		destroy: func(w *world, id string) error { return w.c.Admin.SentinelVersions.Delete(ctx, id) }},
	{name: "tfe_admin_organization_settings", stays: true,
		create: func(w *world) (string, error) {
			_, err := w.c.Admin.Organizations.Update(ctx, w.org, tfe.AdminOrganizationUpdateOptions{WorkspaceLimit: value(1000), ApplyTimeout: value("2h")})
			return w.org, err
		},
		read: func(w *world, id string) (any, error) {
			found, err := w.c.Admin.Organizations.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			consumers, err := w.c.Admin.Organizations.ListModuleConsumers(ctx, id, nil)
			if err != nil {
				return nil, err
			}
			return []any{*found, len(consumers.Items)}, nil
		},
		update: func(w *world, id string) error {
			return changed(w.c.Admin.Organizations.Update(ctx, id, tfe.AdminOrganizationUpdateOptions{PlanTimeout: value("30m"), GlobalModuleSharing: value(true)}))
		},
		destroy: func(w *world, id string) error {
			return changed(w.c.Admin.Organizations.Update(ctx, id, tfe.AdminOrganizationUpdateOptions{WorkspaceLimit: value(0), ApplyTimeout: value(""), PlanTimeout: value("")}))
		}},
}

const digest = "0000000000000000000000000000000000000000000000000000000000000000"

func retention(choice *tfe.DataRetentionPolicyChoice, err error) (any, error) {
	if err == nil && (choice == nil || !choice.IsPopulated()) {
		return nil, none
	}
	return choice, err
}

func policyKind(name string, kind tfe.PolicyKind, first, second string) resource {
	return resource{name: name,
		create: func(w *world) (string, error) {
			options := policyOptions("more-" + string(kind))
			options.Kind = kind
			if kind == tfe.Sentinel {
				options.Query = nil
			}
			made, err := w.c.Policies.Create(ctx, w.org, options)
			if err != nil {
				return "", err
			}
			return made.ID, w.c.Policies.Upload(ctx, made.ID, []byte(first))
		},
		read: func(w *world, id string) (any, error) {
			found, err := w.c.Policies.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			content, err := w.c.Policies.Download(ctx, id)
			if err != nil {
				return nil, err
			}
			return []any{*found, string(content)}, nil
		},
		update: func(w *world, id string) error {
			if _, err := w.c.Policies.Update(ctx, id, tfe.PolicyUpdateOptions{Description: value("other")}); err != nil {
				return err
			}
			return w.c.Policies.Upload(ctx, id, []byte(second))
		},
		destroy: func(w *world, id string) error { return w.c.Policies.Delete(ctx, id) }}
}
