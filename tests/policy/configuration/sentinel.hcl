# Each block of a configuration, and each kind of result.
sentinel {
  features = {
    terraform = true
    telepathy = true
  }
}

import "module" "teams" {
  source = "modules/teams.sentinel"
}

import "static" "people" {
  source = "data/people.json"
  format = "json"
}

import "plugin" "time" {
  config = {
    timezone = "Asia/Tokyo"
  }
}

import "module" "remote" {
  source = "https://example.com/remote.sentinel"
}

mock "weather" {
  data = {
    degrees = 21.5
  }
}

param "least" {
  value = 2
}

global "season" {
  value = "winter"
}

policy "enough-people" {
  source            = "./enough.sentinel"
  enforcement_level = "hard-mandatory"
}

policy "many-people" {
  source            = "./enough.sentinel"
  enforcement_level = "soft-mandatory"
  params = {
    least = 20
  }
}

policy "undefined-result" {
  source = "./undefined.sentinel"
}

policy "runtime-error" {
  source = "./error.sentinel"
}

policy "does-not-parse" {
  source = "./syntax.sentinel"
}

policy "remote-module" {
  source = "./remote.sentinel"
}

policy "remote-policy" {
  source = "git::https://example.com/policies.git//a.sentinel"
}

policy "all-imports" {
}
