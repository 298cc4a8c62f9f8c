/** What the last stage of a Dockerfile says, without its base image. */
export interface Dockerfile {
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  /** Source in the repository and target in the image, relative to the working folder. */
  readonly copies: readonly (readonly [source: string, target: string])[];
  /** Commands that are run in the image while it is made, split at blanks, without redirections. */
  readonly commands: readonly (readonly string[])[];
}

type Instruction = readonly [name: string, words: readonly string[]];

/**
 * Reads as much of the format as deploy/Dockerfile uses: commands joined by `&&`, shell words without quotes. Throws on
 * an instruction it does not know, so that an image made from it is never silently another one.
 */
export function readDockerfile(text: string): Dockerfile {
  const instructions = lastStage(text);
  const wordsOf = (name: string): readonly (readonly string[])[] =>
    instructions.filter(([each]) => each === name).map(([, words]) => words);
  return {
    workingFolder: wordsOf('WORKDIR').at(-1)?.[0] ?? '/',
    environment: Object.fromEntries(wordsOf('ENV').map((words) => split(words.join(' '), '='))),
    user: wordsOf('USER').at(-1)?.[0] ?? '0',
    copies: wordsOf('COPY').flatMap(copiesOf),
    commands: wordsOf('RUN').flatMap(commandsOf),
  };
}

const KNOWN = ['WORKDIR', 'ENV', 'COPY', 'RUN', 'USER'];

function lastStage(text: string): readonly Instruction[] {
  const whole = text.replaceAll(/\\\n\s*/g, '');
  const lines = whole.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const instructions = lines.map((line): Instruction => [line.split(' ')[0] ?? '', line.split(' ').slice(1)]);
  const stage = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM') + 1);
  const unknown = stage.find(([name]) => !KNOWN.includes(name));
  if (unknown !== undefined)
    throw new Error(`cannot follow "${unknown[0]}" of the Dockerfile: expected ${KNOWN.join(', ')}`);
  return stage;
}

function commandsOf(words: readonly string[]): readonly (readonly string[])[] {
  const commands = words.join(' ').split(' && ');
  return commands.map((command) => command.replace(/ > .*$/, '').split(' '));
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
