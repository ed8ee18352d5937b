import "module" "changes" {
  source = "../../modules/changes.sentinel"
}

mock "tfplan/v2" {
  module {
    source = "../../mocks/two-machines.sentinel"
  }
}

param "allowed" {
  value = ["small", "large"]
}

test {
  rules = {
    main  = true
    sizes = true
  }
}
