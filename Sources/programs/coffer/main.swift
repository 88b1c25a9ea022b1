import CofferCommands

Executables.run()
