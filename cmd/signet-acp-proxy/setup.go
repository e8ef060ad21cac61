package main

type setupCommand struct {
	Client string `arg:""`
}
