/** A command that a page shows. */
export interface ShownCommand {
  readonly page: string;
  readonly command: string;
  /** What stands below it in a `console` block; empty where a page shows commands only. */
  readonly output: string;
}

interface Block {
  readonly language: string;
  readonly text: string;
}

const FENCED = /^( *)```(\w*)\n([\s\S]*?)^ *```$/gm;

/** The fenced blocks of a page; a block inside of a list loses its indentation. */
export function blocksOf(markdown: string): readonly Block[] {
  return Array.from(markdown.matchAll(FENCED), ([, indent = '', language = '', text = '']) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** The commands of blocks without a language, one a line, and of `console` blocks, each with its output. */
export function shownCommands(page: string, markdown: string): readonly ShownCommand[] {
  return blocksOf(markdown).flatMap(({ language, text }) => {
    if (language === 'console') return consoleCommands(page, text);
    return language === '' ? plainCommands(page, text) : [];
  });
}

function plainCommands(page: string, text: string): readonly ShownCommand[] {
  const lines = text.replaceAll(/ *\\\n */g, ' ').split('\n');
  const commands = lines.map((line) => line.replace(/ +# .*$/, '').trim()).filter((line) => line !== '');
  return commands.map((command) => ({ page, command, output: '' }));
}

function consoleCommands(page: string, text: string): readonly ShownCommand[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { page, command: part.slice(0, end), output: part.slice(end + 1) };
    });
}

/** The files that a page shows: YAML blocks whose first line is a comment with the name. */
export function shownFiles(markdown: string): Readonly<Record<string, string>> {
  const named = blocksOf(markdown).flatMap(({ language, text }) => {
    const name = language === 'yaml' ? /^# (\S+\.yaml)\n/.exec(text)?.[1] : undefined;
    return name === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(named);
}
