mock "input" {
  data = { number = "x" }
}

test {
  rules = {
    main = false
  }
}
