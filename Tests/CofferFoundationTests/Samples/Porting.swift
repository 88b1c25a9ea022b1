import CofferFoundation
import Foundation

// The one file that a program adds which comes from iOS: from here on, these names mean Coffer's in all of its files, and a
// `URL` of Foundation can't be given to them.

typealias URL = CofferURL
typealias FileManager = CofferFileManager
typealias FileHandle = CofferFileHandle
