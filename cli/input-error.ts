/** Input that cannot be used: printed as one line, and the command exits with 2. */
export class InputError extends Error {}
