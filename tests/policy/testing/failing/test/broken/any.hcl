test {
  rules = {
    main = false
  }
}
