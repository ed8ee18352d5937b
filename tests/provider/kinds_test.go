// SPDX-License-Identifier: MPL-2.0

// The API calls of the tfe provider for each kind, in its order: create, read, read again (a plan without changes),
// import, update, read, destroy, read (not found). The provider itself is not available as a Go module.
package provider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/go-tfe"
)

var ctx = context.Background()

// A resource. `read` returns what the provider stores in its state; `imports` must return the same.
type resource struct {
	name    string
	create  func(w *world) (string, error)
	read    func(w *world, id string) (any, error)
	imports func(w *world, id string) (any, error) // nil: the same as read
	update  func(w *world, id string) error        // nil: each change creates a new one
	destroy func(w *world, id string) error
	stays   bool // destroying it sets it to its default
}

// A data source. `read` must find an existing object.
type source struct {
	name string
	read func(w *world) (any, error)
}

// The test's own organization, and the objects that most kinds refer to.
type world struct {
	c                *tfe.Client
	org, mark        string
	project          *tfe.Project
	workspace, other *tfe.Workspace
	team             *tfe.Team
	pool             *tfe.AgentPool
	task             *tfe.RunTask
	policy           *tfe.Policy
	set              *tfe.PolicySet
	varset           *tfe.VariableSet
	member           *tfe.OrganizationMembership
	taskURL          string
	connection       *tfe.OAuthClient // of connect()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func newWorld() *world {
	w := &world{c: must(tfe.NewClient(&tfe.Config{})), mark: fmt.Sprintf("po-%d", time.Now().UnixNano()), taskURL: os.Getenv("TFC_RUN_TASK_URL")}
	w.org = w.mark
	must(w.c.Organizations.Create(ctx, tfe.OrganizationCreateOptions{Name: &w.org, Email: tfe.String("po@example.com")}))
	w.project = must(w.c.Projects.Create(ctx, w.org, tfe.ProjectCreateOptions{Name: "base"}))
	w.workspace = must(w.c.Workspaces.Create(ctx, w.org, tfe.WorkspaceCreateOptions{Name: tfe.String("base"), Project: w.project}))
	w.other = must(w.c.Workspaces.Create(ctx, w.org, tfe.WorkspaceCreateOptions{Name: tfe.String("other")}))
	w.team = must(w.c.Teams.Create(ctx, w.org, tfe.TeamCreateOptions{Name: tfe.String("base")}))
	w.pool = must(w.c.AgentPools.Create(ctx, w.org, tfe.AgentPoolCreateOptions{Name: tfe.String("base"), OrganizationScoped: tfe.Bool(false)}))
	w.task = must(w.c.RunTasks.Create(ctx, w.org, tfe.RunTaskCreateOptions{Name: "base", URL: w.taskURL, Category: "task"}))
	w.policy = must(w.c.Policies.Create(ctx, w.org, policyOptions("base")))
	w.set = must(w.c.PolicySets.Create(ctx, w.org, tfe.PolicySetCreateOptions{Name: tfe.String("base"), Kind: tfe.OPA}))
	w.varset = must(w.c.VariableSets.Create(ctx, w.org, &tfe.VariableSetCreateOptions{Name: tfe.String("base"), Global: tfe.Bool(false)}))
	w.member = must(w.c.OrganizationMemberships.Create(ctx, w.org, tfe.OrganizationMembershipCreateOptions{Email: tfe.String(w.mark + "@example.com")}))
	return w
}

func (w *world) remove() {
	_ = w.c.Organizations.Delete(ctx, w.org)
}

func policyOptions(name string) tfe.PolicyCreateOptions {
	level := tfe.EnforcementAdvisory
	return tfe.PolicyCreateOptions{Name: &name, Kind: tfe.OPA, Query: tfe.String("data.p.deny"), EnforcementLevel: &level}
}

// Returns the first item that fits, or a not-found error.
func find[T any](items []T, fits func(T) bool) (T, error) {
	for _, item := range items {
		if fits(item) {
			return item, nil
		}
	}
	var none T
	return none, tfe.ErrResourceNotFound
}

// The names of related objects, which are read anew each time.
func workspaceNames(list []*tfe.Workspace) []string {
	ids := []string{}
	for _, one := range list {
		ids = append(ids, one.ID)
	}
	return ids
}

// For a relation that exists or not.
func linked[T any](list []T, id func(T) string, wanted string) (any, error) {
	for _, one := range list {
		if id(one) == wanted {
			return wanted, nil
		}
	}
	return nil, tfe.ErrResourceNotFound
}

func TestResources(t *testing.T) {
	w := newWorld()
	t.Cleanup(w.remove)
	for _, kind := range append(resources, vcsResources...) {
		t.Run(kind.name, func(t *testing.T) { live(t, w, kind) })
	}
}

// live takes one resource through its life.
func live(t *testing.T, w *world, kind resource) {
	same := func(when string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: the plan would have changes:\n%#v\n%#v", when, a, b)
		}
	}
	check := func(what string, err error) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	id, err := kind.create(w)
	check("create", err)
	made, err := kind.read(w, id)
	check("read", err)
	again, err := kind.read(w, id)
	check("read again", err)
	same("after the apply", made, again)
	if kind.imports != nil {
		imported, err := kind.imports(w, id)
		check("import", err)
		same("after the import", made, imported)
	}
	if kind.update != nil {
		check("update", kind.update(w, id))
		changed, err := kind.read(w, id)
		check("read after the update", err)
		if reflect.DeepEqual(made, changed) {
			t.Fatalf("the update changed nothing: %#v", made)
		}
		again, err := kind.read(w, id)
		check("read again after the update", err)
		same("after the update", changed, again)
	}
	check("destroy", kind.destroy(w, id))
	left, err := kind.read(w, id)
	if kind.stays {
		check("read after the destruction", err)
	} else if !errors.Is(err, tfe.ErrResourceNotFound) {
		t.Fatalf("after the destruction: %#v, %v", left, err)
	}
}

func TestSources(t *testing.T) {
	w := newWorld()
	t.Cleanup(w.remove)
	w.fill()
	for _, kind := range append(sources, vcsSources...) {
		t.Run(kind.name, func(t *testing.T) {
			first, err := kind.read(w)
			if err != nil {
				t.Fatal(err)
			}
			value := reflect.ValueOf(first)
			if !value.IsValid() || (value.Kind() == reflect.Slice && value.Len() == 0) {
				t.Fatalf("nothing is found: %#v", first)
			}
			again, err := kind.read(w)
			if err != nil || !reflect.DeepEqual(first, again) {
				t.Fatalf("another answer: %v\n%#v\n%#v", err, first, again)
			}
		})
	}
}
