import type { PodLogRequest } from '#sandbox/api-server/operations/server-state.ts';

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
  /** Ends the log. */
  close(): void;
  readonly isClosed: boolean;
  /** How many lines were written, also those forgotten. */
  readonly length: number;
  /** Lines from this number on that are still kept. */
  linesFrom(number: number): readonly LogLine[];
  /** Resolves at the next line, at the end, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

const MAX_LINES = 1_000;
const MAX_LINE_LENGTH = 4_096;

/** `now` gives milliseconds since 1970. */
export function createLogBuffer(now: () => number): LogBuffer {
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  let written = 0;
  let unfinished = '';
  let isClosed = false;

  function push(text: string): void {
    lines.push({ number: written, at: now(), text: text.slice(0, MAX_LINE_LENGTH) });
    written += 1;
    if (lines.length > MAX_LINES) lines.shift();
  }

  function wake(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  return {
    write(chunk) {
      const parts = (unfinished + chunk).split('\n');
      unfinished = (parts.pop() ?? '').slice(0, MAX_LINE_LENGTH);
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

/** The requested part of a log, and how to read it. */
export type LogRequest = Omit<PodLogRequest, 'pod' | 'container' | 'previous'>;

/** The text of a container's log in pieces; with `follow` until the container or the reader ends. */
export async function* streamLog(buffer: LogBuffer, request: LogRequest, now: number): AsyncGenerator<string> {
  let left = request.limitBytes ?? Infinity;
  let lines = firstLines(buffer, request, now);
  let next = buffer.length;
  for (;;) {
    const text = cut(lines.map((line) => format(line, request.timestamps)).join(''), left);
    left -= Buffer.byteLength(text);
    yield text;
    if (!request.follow || left <= 0) return;
    // More may have come while the reader was busy with this piece.
    if (buffer.length === next && !buffer.isClosed) await buffer.changed(request.signal);
    if (request.signal.aborted || buffer.length === next) return;
    lines = buffer.linesFrom(next);
    next = buffer.length;
  }
}

function firstLines(buffer: LogBuffer, { tailLines, sinceSeconds }: LogRequest, now: number): readonly LogLine[] {
  const since = sinceSeconds === undefined ? -Infinity : now - sinceSeconds * 1000;
  const lines = buffer.linesFrom(0).filter(({ at }) => at >= since);
  return tailLines === undefined ? lines : lines.slice(lines.length - Math.min(tailLines, lines.length));
}

function format({ at, text }: LogLine, withTime: boolean): string {
  return `${withTime ? `${new Date(at).toISOString()} ` : ''}${text}\n`;
}

/** The first `bytes` of a text; demo images write ASCII only. */
function cut(text: string, bytes: number): string {
  return Number.isFinite(bytes) ? Buffer.from(text).subarray(0, bytes).toString() : text;
}
