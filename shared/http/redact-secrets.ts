const SECRET_KEY = /token|password|secret|authorization|private|key(pem)?$/i;
/** Names that look secret and are not: where a secret lies, or what it is called. */
const PLAIN_KEY = /(file|path|name|mode|namespace)$/i;
const DEEPEST = 32;

/** A copy for people to read: values under keys that sound secret are replaced, whatever their depth. */
export function redactSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => redactSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      isSecret(key, child) ? '[redacted]' : redactSecrets(child, depth + 1),
    ]),
  );
}

function isSecret(key: string, value: unknown): boolean {
  return typeof value === 'string' && SECRET_KEY.test(key) && !PLAIN_KEY.test(key);
}
