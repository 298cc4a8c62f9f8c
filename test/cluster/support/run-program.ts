import { spawnSync } from 'node:child_process';

/** What a program prints. Throws what it complains about when it does not end well. */
export function runProgram(command: string, args: readonly string[], cwd?: string): string {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot ${command} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
