mock "input" {
  data = { number = 20 }
}

test {
  rules = {
    main = true
  }
}
