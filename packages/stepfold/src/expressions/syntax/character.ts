const letterForm = /[\p{ID_Continue}]/u;

/** True for `0` to `9`. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** True for a character that a name may contain, digits included. Names cannot contain letters outside the basic plane. */
export function isNamePart(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || isDigit(code) || code === 95 || code === 36;
  return letterForm.test(String.fromCharCode(code));
}

/** True for blanks and line ends. */
export function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0xfeff || code === 0x2028 || code === 0x2029;
}
