mock "input" {
  data = { number = 2 }
}
