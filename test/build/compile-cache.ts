import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Compiled code as an image holds it, so that no type stripper is loaded; V8's flags are part of its key. All test files
 * and runs share it, so it is not in the temporary folder of one file (test/leaks).
 */
export const COMPILE_CACHE = join(process.env['USUAL_TMPDIR'] ?? tmpdir(), 'plimsoll-compile-cache');

/** Tests start hundreds of processes, each of which would strip the types of the same files. */
export function shareCompileCache(): void {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;
}
