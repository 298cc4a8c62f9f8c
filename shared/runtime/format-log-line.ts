/** Turns one JSON log line into a line for a terminal: `12:30:05.123 INFO  webhook  Listening port=10250`. */
export function formatLogLine(json: string): string {
  const line: unknown = JSON.parse(json);
  if (typeof line !== 'object' || line === null) return json;
  const { level, time, logger, msg = '', ...rest } = line as Readonly<Record<string, unknown>>;
  const clockTime = String(time).slice(11, 23);
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${formatValue(value)}`);
  const head = `${clockTime} ${String(level).toUpperCase().padEnd(5)} ${String(logger)}`;
  return `${[head, printable(textOf(msg)), ...fields].join('  ')}\n`;
}

function formatValue(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return value;
  return printable(JSON.stringify(value));
}

/** Control characters and direction marks could rewrite a terminal line; they are shown as escapes. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
