/** One argument list for each function of a catalogue: a sentence without a sample does not compile. */
export type Samples<Catalogue> = {
  readonly [Name in keyof Catalogue]: Catalogue[Name] extends (...args: infer Arguments) => unknown ? Arguments : never;
};

/** The texts of a catalogue of functions, one a line: its name and what it says of the sample. */
export function printTexts<Catalogue extends Readonly<Record<string, (...args: never[]) => unknown>>>(
  catalogue: Catalogue,
  samples: Samples<Catalogue>,
): readonly string[] {
  return Object.entries(catalogue).map(([name, text]) => {
    const given = samples[name as keyof Catalogue] as unknown as never[];
    return `${name}: ${shown(text(...given))}`;
  });
}

/** Texts without values, one a line: the name and the text. */
export function printNamed(texts: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(texts).map(([name, text]) => `${name}: ${text}`);
}

/** A text, or an answer with its code. */
function shown(said: unknown): string {
  if (typeof said === 'string') return said;
  const { code, text, message } = said as { code: string | number; text?: string; message?: string };
  return `[${code}] ${text ?? message ?? ''}`;
}

/** A golden text: each section with its heading. */
export function sections(texts: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(texts)
    .map(([heading, lines]) => `# ${heading}\n\n${lines.join('\n')}\n`)
    .join('\n');
}
