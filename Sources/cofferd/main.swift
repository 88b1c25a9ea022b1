// One call: closures at the top level of a program belong to the main actor, and would trap on the loop's threads.
Daemon.main()
