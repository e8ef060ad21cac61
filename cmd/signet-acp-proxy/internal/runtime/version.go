package runtime

// Version is the program's version. main sets it before anything else.
var Version = "devel"
