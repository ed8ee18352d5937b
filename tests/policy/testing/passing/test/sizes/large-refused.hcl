# The default allows no large machine.
module "changes" {
  source = "../../modules/changes.sentinel"
}

mock "tfplan/v2" {
  module {
    source = "../../mocks/two-machines.sentinel"
  }
}

test {
  rules = {
    main = false
  }
}
