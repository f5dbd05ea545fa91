rootProject.name = "mdoc-harness"
