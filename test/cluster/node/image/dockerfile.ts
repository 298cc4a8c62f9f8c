/** What a Dockerfile makes, without its base images and without what npm installs. */
export interface Dockerfile {
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  /** Source in the repository and target in the image, relative to the working folder; of every stage. */
  readonly copies: readonly (readonly [source: string, target: string])[];
  /** Commands that are run in the image while it is made; of every stage. */
  readonly commands: readonly Command[];
}

export interface Command {
  /** Split at blanks, without redirections. */
  readonly words: readonly string[];
  readonly user: string;
}

type Instruction = readonly [name: string, words: readonly string[]];

/**
 * Reads as much of the format as deploy/Dockerfile uses: commands joined by `&&`, shell words without quotes. The last
 * stage has the settings. Throws on an instruction it does not know, so that an image made from it is never silently
 * another one; that a real builder makes the same files is tested (test/cluster/image).
 */
export function readDockerfile(text: string): Dockerfile {
  const all = instructionsOf(text);
  const last = all.slice(all.findLastIndex(([name]) => name === 'FROM'));
  const variables = wordsOf('ENV', last).flatMap((words) => words.map((word) => split(word, '=')));
  return {
    workingFolder: wordsOf('WORKDIR', last).at(-1)?.[0] ?? '/',
    environment: Object.fromEntries(variables),
    user: userOf(last),
    copies: wordsOf('COPY', all).flatMap(copiesOf),
    commands: commandsIn(all).filter(({ words: [program] }) => program !== 'npm'),
  };
}

const KNOWN = ['FROM', 'WORKDIR', 'ENV', 'COPY', 'RUN', 'USER'];

function instructionsOf(text: string): readonly Instruction[] {
  const whole = text.replaceAll(/\\\n\s*/g, '');
  const lines = whole.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const instructions = lines.map((line): Instruction => [line.split(' ')[0] ?? '', line.split(' ').slice(1)]);
  const unknown = instructions.find(([name]) => !KNOWN.includes(name));
  if (unknown !== undefined)
    throw new Error(`cannot follow "${unknown[0]}" of the Dockerfile: expected ${KNOWN.join(', ')}`);
  return instructions;
}

function wordsOf(name: string, instructions: readonly Instruction[]): readonly (readonly string[])[] {
  return instructions.filter(([each]) => each === name).map(([, words]) => words);
}

function userOf(instructions: readonly Instruction[]): string {
  return wordsOf('USER', instructions).at(-1)?.[0] ?? '0';
}

function commandsIn(all: readonly Instruction[]): readonly Command[] {
  return all.flatMap(([name, words], index) => {
    if (name !== 'RUN') return [];
    const stage = all.slice(
      all.findLastIndex(([each], at) => each === 'FROM' && at < index),
      index,
    );
    const commands = words.join(' ').split(' && ');
    return commands.map((each) => ({ words: each.replace(/ > .*$/, '').split(' '), user: userOf(stage) }));
  });
}

/** What comes from another stage is left to the caller. */
function copiesOf(words: readonly string[]): readonly (readonly [string, string])[] {
  if (words.some((word) => word.startsWith('--from='))) return [];
  const target = words.at(-1) ?? '';
  return words.slice(0, -1).map((source) => [source, target === './' ? source : target] as const);
}

function split(text: string, at: string): readonly [string, string] {
  const index = text.indexOf(at);
  return [text.slice(0, index), text.slice(index + 1)];
}
