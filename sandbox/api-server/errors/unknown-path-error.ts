/** A path that belongs to no group the server knows: answered in plain text, as the real server does. */
export class UnknownPathError extends Error {
  override readonly name = 'UnknownPathError';
}
