import CofferCommandSupport

SecretServiceProgram.run()
