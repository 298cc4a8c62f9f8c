import { isDnsLabel } from './label-syntax.ts';

const LONGEST = 253;
/** Of one UTF-16 unit in UTF-8. */
const MOST_BYTES = 3;

const MALFORMED =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** What keeps a text from being a DNS subdomain, in the API's words. apimachinery `util/validation` IsDNS1123Subdomain. */
export function subdomainFaults(text: string): readonly string[] {
  const faults: string[] = [];
  if (text.length * MOST_BYTES > LONGEST && utf8Length(text) > LONGEST)
    faults.push(`must be no more than ${LONGEST} characters`);
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
