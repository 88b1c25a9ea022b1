import CofferMount

// One call: closures at the top level of a program belong to the main actor, and would trap on other threads.
MountProgram.main()
