/** The last lines that a container wrote, with the time of each; bounded like a rotated log file. */
export interface LogBuffer {
  readonly write: (chunk: string) => void;
  /** Lines of at most `tailLines` from the end, with their times in front if `timestamps`. */
  read(options?: { readonly tailLines?: number; readonly timestamps?: boolean }): string;
}

const MOST_LINES = 1_000;
const LONGEST_LINE = 4_096;

/** `now` gives milliseconds since 1970. */
export function createLogBuffer(now: () => number): LogBuffer {
  const lines: { readonly at: number; readonly text: string }[] = [];
  let unfinished = '';

  function push(text: string): void {
    lines.push({ at: now(), text: text.slice(0, LONGEST_LINE) });
    if (lines.length > MOST_LINES) lines.shift();
  }

  return {
    write(chunk) {
      const parts = (unfinished + chunk).split('\n');
      unfinished = (parts.pop() ?? '').slice(0, LONGEST_LINE);
      parts.forEach(push);
    },
    read({ tailLines, timestamps = false } = {}) {
      const wanted = tailLines === undefined ? lines : lines.slice(lines.length - Math.min(tailLines, lines.length));
      return wanted.map(({ at, text }) => `${timestamps ? `${new Date(at).toISOString()} ` : ''}${text}\n`).join('');
    },
  };
}
