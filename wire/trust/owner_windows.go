package trust

import (
	"io/fs"
	"unsafe"

	"golang.org/x/sys/windows"

	"rpcx/wire"
)

// writes are the rights to change a file or the content of a directory.
const writes = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.WRITE_DAC | windows.WRITE_OWNER |
	windows.DELETE | windows.GENERIC_WRITE | windows.GENERIC_ALL

// objection returns why rpcx must not use a file, or "", and a hint for the user. The owner must be the user, the
// system or an administrator, and only these may be allowed to write to the file.
func objection(path string, _ fs.FileInfo) (why, hint string) {
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "cannot read its permissions: " + err.Error(), ""
	}
	us, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "cannot read the current user: " + err.Error(), ""
	}
	owner, _, err := sd.Owner()
	if err != nil || !trusted(owner, us.User.Sid) {
		return othersOwnIt, ""
	}
	rights, _, err := sd.DACL()
	if err != nil || rights == nil || !onlyWrittenBy(rights, us.User.Sid) {
		return othersWrite, "icacls " + wire.Quote(path) + " shows its permissions"
	}
	return "", ""
}

// onlyWrittenBy reports whether an access control list allows only trusted users to write.
func onlyWrittenBy(rights *windows.ACL, us *windows.SID) bool {
	for i := range uint32(rights.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(rights, i, &ace) != nil {
			return false
		}
		if ace.Header.AceType == windows.ACCESS_DENIED_ACE_TYPE || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || ace.Mask&writes == 0 {
			continue
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || !trusted((*windows.SID)(unsafe.Pointer(&ace.SidStart)), us) {
			return false
		}
	}
	return true
}

// trusted reports whether who is the user, or has all rights on this machine anyway.
func trusted(who, us *windows.SID) bool {
	if who.Equals(us) {
		return true
	}
	for _, known := range []windows.WELL_KNOWN_SID_TYPE{
		windows.WinLocalSystemSid, windows.WinBuiltinAdministratorsSid, windows.WinCreatorOwnerSid, windows.WinCreatorOwnerRightsSid,
	} {
		if who.IsWellKnown(known) {
			return true
		}
	}
	return false
}
