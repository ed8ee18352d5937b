mock "input" {
  data = { number = 2 }
}

test {
  rules = {
    main  = true
    never = true
  }
}
