# A configuration that needs no account anywhere: its resources exist in the state alone.

variable "name" {
  type        = string
  description = "Whom to greet"
  default     = "world"
}

resource "terraform_data" "greeting" {
  input = "Hello, ${var.name}!"
}

resource "terraform_data" "step" {
  count = 3

  input            = "step ${count.index + 1}"
  triggers_replace = terraform_data.greeting.output
}

output "greeting" {
  value = terraform_data.greeting.output
}
