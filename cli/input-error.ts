/** Input that cannot be used: told in one line, and the command ends with exit code 2. */
export class InputError extends Error {}
