import { textOf } from './process-identity.ts';

/** One line of /proc/self/mountinfo. */
export interface Mount {
  readonly path: string;
  readonly type: string;
}

/** What is mounted here, in the order of mounting. */
export function mounts(): readonly Mount[] {
  const lines = textOf('/proc/self/mountinfo').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [before = '', after = ''] = line.split(' - ');
    return { path: unescaped(before.split(' ')[4] ?? ''), type: after.split(' ')[0] ?? '' };
  });
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
