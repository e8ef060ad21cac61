package runtime

// Version is the program's. main sets it, once, before anything else.
var Version = "devel"
