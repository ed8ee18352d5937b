mock "tfplan/v2" {
  data = {
    resource_changes = {
      a = { change = { after = { owner = "x" } } }
      "b" : { change : { after : {} } },
    }
  }
}

test {
  rules = {
    main  = false
    count = 2
  }
}
