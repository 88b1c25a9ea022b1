import CofferBackup
import Testing

@Suite struct RepositoryTests {}
