package main

type doctorCommand struct{ JSON bool }
