/// Who did what: the records of the vault, chained so that none can be changed, taken out or moved unnoticed.
package final class AuditLog {}
