module example.org/mdoc-harness

go 1.19
