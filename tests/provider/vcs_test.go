// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-tfe"
)

// The provider and its repository, which has the branches main and policies: tests/e2e/test_provider_calls.py.
var (
	githubURL  = os.Getenv("GITHUB_URL")
	githubAPI  = os.Getenv("GITHUB_API_URL")
	repository = os.Getenv("GITHUB_POLICY_SET_IDENTIFIER")
)

// connect makes the connection that the VCS kinds of this world use, once.
func (w *world) connect() *tfe.OAuthClient {
	if w.connection == nil {
		w.connection = must(w.c.OAuthClients.Create(ctx, w.org, clientOptions("base")))
	}
	return w.connection
}

// The provider sends all texts, those that are not set as "".
func clientOptions(name string) tfe.OAuthClientCreateOptions {
	return tfe.OAuthClientCreateOptions{Name: &name, APIURL: &githubAPI, HTTPURL: &githubURL, OAuthToken: value("good-token"), Key: value(""),
		ServiceProvider: value(tfe.ServiceProviderGithubEE), OrganizationScoped: value(true)}
}

func readClient(w *world, id string) (any, error) {
	found, err := w.c.OAuthClients.ReadWithOptions(ctx, id, &tfe.OAuthClientReadOptions{Include: []tfe.OAuthClientIncludeOpt{tfe.OauthClientProjects}})
	if err != nil {
		return nil, err
	}
	if len(found.OAuthTokens) > 1 {
		return nil, errors.New("more than one token")
	}
	return *found, nil
}

// The repository as the provider sends it: all texts, and the branch only where it is set.
func (w *world) repo(branch, tags string) *tfe.VCSRepoOptions {
	options := &tfe.VCSRepoOptions{Identifier: &repository, IngressSubmodules: value(false), OAuthTokenID: value(w.connect().OAuthTokens[0].ID),
		GHAInstallationID: value(""), TagsRegex: &tags}
	if branch != "" {
		options.Branch = &branch
	}
	return options
}

// What the provider keeps of a workspace with a repository.
type connected struct {
	repo                               *tfe.VCSRepo
	fileTriggers, queueAll, speculates bool
	prefixes, patterns                 []string
	mode, directory                    string
}

func readConnected(w *world, id string) (any, error) {
	found, err := w.c.Workspaces.ReadByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return connected{found.VCSRepo, found.FileTriggersEnabled, found.QueueAllRuns, found.SpeculativeEnabled, found.TriggerPrefixes, found.TriggerPatterns,
		found.ExecutionMode, found.WorkingDirectory}, nil
}

// A workspace with a repository, of which `change` changes one thing.
func connectedWorkspace(what string, options tfe.WorkspaceCreateOptions, repo func(w *world) *tfe.VCSRepoOptions, change func(w *world, id string) error) resource {
	return resource{name: "tfe_workspace (" + what + ")",
		create: func(w *world) (string, error) {
			options := options
			options.Name, options.VCSRepo = value("connected"), repo(w)
			return created(w.c.Workspaces.Create(ctx, w.org, options))
		},
		read:    readConnected,
		imports: readConnected,
		update:  change,
		destroy: func(w *world, id string) error { return w.c.Workspaces.DeleteByID(ctx, id) }}
}

func onMain(w *world) *tfe.VCSRepoOptions    { return w.repo("main", "") }
func onDefault(w *world) *tfe.VCSRepoOptions { return w.repo("", "") }
func onTags(w *world) *tfe.VCSRepoOptions    { return w.repo("", "^v1") }

func changeWorkspace(options func(w *world) tfe.WorkspaceUpdateOptions) func(w *world, id string) error {
	return func(w *world, id string) error { return changed(w.c.Workspaces.UpdateByID(ctx, id, options(w))) }
}

// disconnect removes the repository, and fails if anything of it is left.
func disconnect(w *world, id string) error {
	found, err := w.c.Workspaces.RemoveVCSConnectionByID(ctx, id)
	if err != nil {
		return err
	}
	if found.VCSRepo != nil {
		return fmt.Errorf("a repository is left: %#v", *found.VCSRepo)
	}
	return nil
}

var vcsResources = []resource{
	{name: "tfe_oauth_client",
		create: func(w *world) (string, error) {
			return created(w.c.OAuthClients.Create(ctx, w.org, clientOptions("more")))
		},
		read: readClient, imports: readClient,
		update: func(w *world, id string) error {
			return changed(w.c.OAuthClients.Update(ctx, id, tfe.OAuthClientUpdateOptions{Name: value("changed"), OAuthToken: value("good-token"), OrganizationScoped: value(false)}))
		},
		destroy: func(w *world, id string) error { return w.c.OAuthClients.Delete(ctx, id) }},
	{name: "tfe_oauth_client (in a pool)",
		create: func(w *world) (string, error) {
			options := clientOptions("")
			options.AgentPool = must(w.c.AgentPools.Create(ctx, w.org, tfe.AgentPoolCreateOptions{Name: value("connections"), OrganizationScoped: value(true)}))
			return created(w.c.OAuthClients.Create(ctx, w.org, options))
		},
		read: readClient, imports: readClient,
		update: func(w *world, id string) error {
			return changed(w.c.OAuthClients.Update(ctx, id, tfe.OAuthClientUpdateOptions{Name: value("named"), Key: value(""), Secret: value(""), OAuthToken: value("")}))
		},
		destroy: func(w *world, id string) error { return w.c.OAuthClients.Delete(ctx, id) }},
	{name: "tfe_oauth_client (Bitbucket Data Center)",
		create: func(w *world) (string, error) {
			return created(w.c.OAuthClients.Create(ctx, w.org, tfe.OAuthClientCreateOptions{Name: value(""), APIURL: value("https://bitbucket.example.com"), HTTPURL: value("https://bitbucket.example.com"),
				Key: value("consumer"), Secret: value("secret"), RSAPublicKey: value("public"), ServiceProvider: value(tfe.ServiceProviderBitbucketDataCenter)}))
		},
		read: readClient, imports: readClient,
		destroy: func(w *world, id string) error { return w.c.OAuthClients.Delete(ctx, id) }},
	{name: "tfe_project_oauth_client",
		create: func(w *world) (string, error) {
			client := w.connect()
			return client.ID, w.c.OAuthClients.AddProjects(ctx, client.ID, tfe.OAuthClientAddProjectsOptions{Projects: []*tfe.Project{w.project}})
		},
		read: func(w *world, id string) (any, error) {
			found, err := w.c.OAuthClients.ReadWithOptions(ctx, id, &tfe.OAuthClientReadOptions{Include: []tfe.OAuthClientIncludeOpt{tfe.OauthClientProjects}})
			if err != nil {
				return nil, err
			}
			return linked(projectIDs(found.Projects), func(one string) string { return one }, thatProject(w))
		},
		destroy: func(w *world, id string) error {
			return w.c.OAuthClients.RemoveProjects(ctx, id, tfe.OAuthClientRemoveProjectsOptions{Projects: []*tfe.Project{w.project}})
		}},
	connectedWorkspace("its branch changes", tfe.WorkspaceCreateOptions{FileTriggersEnabled: value(true), QueueAllRuns: value(false), SpeculativeEnabled: value(true)}, onMain,
		changeWorkspace(func(w *world) tfe.WorkspaceUpdateOptions {
			return tfe.WorkspaceUpdateOptions{VCSRepo: w.repo("policies", "")}
		})),
	connectedWorkspace("with the default branch", tfe.WorkspaceCreateOptions{TriggerPatterns: []string{"/modules/**/*.tf"}}, onDefault,
		changeWorkspace(func(w *world) tfe.WorkspaceUpdateOptions {
			return tfe.WorkspaceUpdateOptions{TriggerPatterns: []string{}, TriggerPrefixes: []string{"modules"}}
		})),
	connectedWorkspace("for tags", tfe.WorkspaceCreateOptions{FileTriggersEnabled: value(false)}, onTags,
		changeWorkspace(func(w *world) tfe.WorkspaceUpdateOptions {
			repo := w.repo("", "^v2")
			repo.Branch = value("")
			return tfe.WorkspaceUpdateOptions{VCSRepo: repo}
		})),
	connectedWorkspace("no tags any more", tfe.WorkspaceCreateOptions{FileTriggersEnabled: value(false)}, onTags,
		changeWorkspace(func(w *world) tfe.WorkspaceUpdateOptions {
			return tfe.WorkspaceUpdateOptions{FileTriggersEnabled: value(true), VCSRepo: w.repo("main", "")}
		})),
	connectedWorkspace("its repository is removed", tfe.WorkspaceCreateOptions{WorkingDirectory: value("a")}, onMain, disconnect),
	connectedWorkspace("another resource sets its mode", tfe.WorkspaceCreateOptions{}, onMain, // tfe_workspace_settings
		changeWorkspace(func(w *world) tfe.WorkspaceUpdateOptions {
			return tfe.WorkspaceUpdateOptions{ExecutionMode: value("local"), SettingOverwrites: &tfe.WorkspaceSettingOverwritesOptions{ExecutionMode: value(true), AgentPool: value(true)}}
		})),
	{name: "tfe_policy_set (from a repository)",
		create: func(w *world) (string, error) {
			repo := w.repo("policies", "")
			repo.TagsRegex = nil
			return created(w.c.PolicySets.Create(ctx, w.org, tfe.PolicySetCreateOptions{Name: value("connected"), Kind: tfe.OPA, PoliciesPath: value("/policy-sets/foo"), VCSRepo: repo}))
		},
		read: func(w *world, id string) (any, error) {
			found, err := w.c.PolicySets.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			return []any{found.Name, found.PoliciesPath, *found.VCSRepo}, nil
		},
		update: func(w *world, id string) error {
			repo := w.repo("main", "")
			repo.TagsRegex = nil
			return changed(w.c.PolicySets.Update(ctx, id, tfe.PolicySetUpdateOptions{Name: value("connected"), PoliciesPath: value("/policy-sets/bar"), VCSRepo: repo}))
		},
		destroy: func(w *world, id string) error { return w.c.PolicySets.Delete(ctx, id) }},
}

// data.tfe_oauth_client reads all pages and chooses by name, by service provider, or by both.
func clientWhere(name string, provider tfe.ServiceProviderType) func(w *world) (any, error) {
	return func(w *world) (any, error) {
		w.connect()
		list, err := w.c.OAuthClients.List(ctx, w.org, &tfe.OAuthClientListOptions{ListOptions: tfe.ListOptions{PageSize: 100}})
		if err != nil {
			return nil, err
		}
		return find(list.Items, func(one *tfe.OAuthClient) bool {
			return (name == "" || (one.Name != nil && *one.Name == name)) && (provider == "" || one.ServiceProvider == provider)
		})
	}
}

var vcsSources = []source{
	{"data.tfe_oauth_client", func(w *world) (any, error) { return w.c.OAuthClients.Read(ctx, w.connect().ID) }},
	{"data.tfe_oauth_client (by its name)", clientWhere("base", "")},
	{"data.tfe_oauth_client (by its provider)", clientWhere("", tfe.ServiceProviderGithubEE)},
}
