const MAX_NAME_LENGTH = 63;
const MAX_PREFIX_LENGTH = 253;

/** True for a valid label value: empty, or a name. `apimachinery/pkg/util/validation` IsValidLabelValue. */
export function isLabelValue(text: string): boolean {
  return text === '' || isName(text);
}

/** True if only its length can make it an invalid label value. */
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
  return text.length > 0 && text.length <= MAX_NAME_LENGTH && hasNameShape(text);
}

function hasNameShape(text: string): boolean {
  if (!isAlphanumeric(text.charCodeAt(0)) || !isAlphanumeric(text.charCodeAt(text.length - 1))) return false;
  for (let at = 1; at < text.length - 1; at += 1) {
    if (!isAlphanumeric(text.charCodeAt(at)) && !'-_.'.includes(text.charAt(at))) return false;
  }
  return true;
}

function isDnsSubdomain(text: string): boolean {
  return text.length <= MAX_PREFIX_LENGTH && text.split('.').every(isDnsLabel);
}

/** True for one dot-free part of a DNS name; the caller checks its length. */
function isDnsLabel(text: string): boolean {
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

const MAX_LENGTHS = 253;
/** Length of one UTF-16 unit in UTF-8. */
const MAX_BYTES = 3;

const MALFORMED =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** Why a text is not a DNS subdomain, in the API's words. apimachinery `util/validation` IsDNS1123Subdomain. */
export function subdomainFaults(text: string): readonly string[] {
  const faults: string[] = [];
  if (text.length * MAX_BYTES > MAX_LENGTHS && utf8Length(text) > MAX_LENGTHS)
    faults.push(`must be no more than ${MAX_LENGTHS} characters`);
  if (!text.split('.').every(isDnsLabel)) faults.push(MALFORMED);
  return faults;
}

/** How many bytes a text takes as UTF-8, which is what Go counts. A lone surrogate is sent as U+FFFD: three. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) bytes += utf8Width(character.codePointAt(0) ?? 0);
  return bytes;
}

function utf8Width(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x1_0000 ? 3 : 4;
}
