const LONGEST_NAME = 63;
const LONGEST_PREFIX = 253;

/** True for what may stand as a label's value: empty, or a name. `apimachinery/pkg/util/validation` IsValidLabelValue. */
export function isLabelValue(text: string): boolean {
  return text === '' || isName(text);
}

/** True for what only its length can keep from being a label's value. */
export function hasLabelValueShape(text: string): boolean {
  return text === '' || hasNameShape(text);
}

/** True for `name` or `dns.prefix/name`. `apimachinery/pkg/util/validation` IsQualifiedName. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return isName(text);
  return isDnsSubdomain(text.slice(0, slash)) && isName(text.slice(slash + 1));
}

/** Up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends. */
function isName(text: string): boolean {
  return text.length > 0 && text.length <= LONGEST_NAME && hasNameShape(text);
}

function hasNameShape(text: string): boolean {
  if (!isAlphanumeric(text.charCodeAt(0)) || !isAlphanumeric(text.charCodeAt(text.length - 1))) return false;
  for (let at = 1; at < text.length - 1; at += 1) {
    if (!isAlphanumeric(text.charCodeAt(at)) && !'-_.'.includes(text.charAt(at))) return false;
  }
  return true;
}

function isDnsSubdomain(text: string): boolean {
  return text.length <= LONGEST_PREFIX && text.split('.').every(isDnsLabel);
}

/** True for one dot-free part of a DNS name; its length is for the caller. */
export function isDnsLabel(text: string): boolean {
  if (text.length === 0 || text.startsWith('-') || text.endsWith('-')) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) && !isLowerCase(code) && text.charAt(at) !== '-') return false;
  }
  return true;
}

function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isLowerCase(code) || (code >= 0x41 && code <= 0x5a);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isLowerCase(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}
