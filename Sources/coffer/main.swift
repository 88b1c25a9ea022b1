import CofferCommands

CofferCommand.run()
