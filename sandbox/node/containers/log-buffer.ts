/** One line that a container wrote; `at` is milliseconds since 1970. */
export interface LogLine {
  /** Counts all lines since the start, also those forgotten. */
  readonly number: number;
  readonly at: number;
  readonly text: string;
}

/** The last lines that a container wrote; bounded like a rotated log file. */
export interface LogBuffer {
  readonly write: (chunk: string) => void;
  /** No more will come. */
  close(): void;
  readonly isClosed: boolean;
  /** How many lines were written, also those forgotten. */
  readonly length: number;
  /** Lines from this number on, as far as they are still kept. */
  linesFrom(number: number): readonly LogLine[];
  /** Resolves at the next line, at the end, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

const MOST_LINES = 1_000;
const LONGEST_LINE = 4_096;

/** `now` gives milliseconds since 1970. */
export function createLogBuffer(now: () => number): LogBuffer {
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  let written = 0;
  let unfinished = '';
  let isClosed = false;

  function push(text: string): void {
    lines.push({ number: written, at: now(), text: text.slice(0, LONGEST_LINE) });
    written += 1;
    if (lines.length > MOST_LINES) lines.shift();
  }

  function wake(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  return {
    write(chunk) {
      const parts = (unfinished + chunk).split('\n');
      unfinished = (parts.pop() ?? '').slice(0, LONGEST_LINE);
      parts.forEach(push);
      if (parts.length > 0) wake();
    },
    close() {
      if (unfinished !== '') push(unfinished);
      unfinished = '';
      isClosed = true;
      wake();
    },
    get isClosed() {
      return isClosed;
    },
    get length() {
      return written;
    },
    linesFrom: (number) => lines.filter((line) => line.number >= number),
    changed: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        waiting.add(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
}
