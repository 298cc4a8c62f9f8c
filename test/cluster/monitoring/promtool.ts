import { spawnSync } from 'node:child_process';

/** Why there is no promtool, for the name of a group; a failure where `CI` is set. */
export function whyNoPromtool(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (spawnSync('promtool', ['--version'], { env }).status === 0) return undefined;
  if (env['CI'] !== undefined)
    throw new Error('cannot run promtool: install the Debian package prometheus (.ci/packages)');
  return ' (not run: promtool is not installed; it is in the Debian package prometheus)';
}

/** What promtool says, and whether it is content. */
export function promtool(args: readonly string[], cwd?: string): { readonly isWell: boolean; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    encoding: 'utf8',
    ...(cwd !== undefined && { cwd }),
  });
  return { isWell: status === 0, said: stdout + stderr };
}
