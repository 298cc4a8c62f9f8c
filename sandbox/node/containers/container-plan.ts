import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityMilliNumber, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { WireContainer } from '#sandbox/node/wire-pod.ts';

/** The input of a demo image's runtime, as JSON. */
export interface ContainerParameters {
  readonly image: string;
  readonly memoryBytes: number;
  readonly growBytesPerSecond: number;
  readonly mostBytes: number;
  readonly milliCpu: number;
  /** Absent: runs until it is stopped. */
  readonly seconds?: number;
  readonly exitCode: number;
  readonly ignoresTerm: boolean;
}

/** Either what to run, or the kubelet's reason for not starting the container. */
export type ContainerPlan =
  | { readonly kind: 'run'; readonly parameters: ContainerParameters }
  | { readonly kind: 'refuse'; readonly reason: string; readonly message: string };

type Settings = Readonly<Partial<Record<ImageOption, string>>>;

/** Reads a container as one of the demo images. Only arguments that the image knows count; a command never runs. */
export function planContainer(container: WireContainer): ContainerPlan {
  const found = findDemoImage(container.image);
  if (found === undefined) return refuse('ImagePullBackOff', unknownImage(container.image));
  if ((container.command ?? []).length > 0) return refuse('CreateContainerConfigError', commandRefused());
  const settings = readArguments(container.args ?? [], found.image);
  if (typeof settings === 'string') return refuse('CreateContainerConfigError', settings);
  const parameters = readSettings(found.name, settings);
  return typeof parameters === 'string'
    ? refuse('CreateContainerConfigError', parameters)
    : { kind: 'run', parameters };
}

function refuse(reason: string, message: string): ContainerPlan {
  return { kind: 'refuse', reason, message };
}

function unknownImage(image: string): string {
  return `cannot pull image "${image}": the sandbox has only ${Object.keys(DEMO_IMAGES).join(', ')}`;
}

function commandRefused(): string {
  return 'cannot run a command: the sandbox runs its demo images only, expected args such as --memory=40Mi';
}

/** Settings by option, or what is wrong with an argument. */
function readArguments(args: readonly string[], image: DemoImage): Settings | string {
  const settings: Partial<Record<ImageOption, string>> = { ...image.options };
  for (const argument of args) {
    const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/.exec(argument) ?? [];
    if (name === undefined || !isOptionOf(image, name)) return unknownArgument(argument, image);
    settings[name] = value ?? 'true';
  }
  return settings;
}

function isOptionOf(image: DemoImage, name: string): name is ImageOption {
  return Object.hasOwn(image.options, name);
}

function unknownArgument(argument: string, image: DemoImage): string {
  const known = Object.keys(image.options).map((name) => `--${name}=…`);
  return `Unknown argument "${argument}": expected ${known.join(', ')}`;
}

function readSettings(image: string, settings: Settings): ContainerParameters | string {
  const memoryBytes = readBytes(settings.memory);
  const growBytesPerSecond = readBytes(settings.grow);
  const mostBytes = readBytes(settings.most);
  const milliCpu = readMilli(settings.cpu);
  const seconds = readMilli(settings.seconds);
  const exitCode = readBytes(settings['exit-code']);
  const values = { memory: memoryBytes, grow: growBytesPerSecond, most: mostBytes, cpu: milliCpu, seconds };
  const bad = Object.entries({ ...values, 'exit-code': exitCode }).find(([name, value]) => !(value <= mostOf(name)));
  if (bad !== undefined) return badValue(bad[0] as ImageOption, settings);
  return {
    image,
    memoryBytes,
    growBytesPerSecond,
    mostBytes: Math.max(mostBytes, memoryBytes),
    milliCpu,
    ...(settings.seconds === undefined ? {} : { seconds: seconds / 1000 }),
    exitCode: exitCode % 256,
    ignoresTerm: settings['ignore-sigterm'] === 'true',
  };
}

/** What this machine can take: a container that outgrows the virtual node is killed only a moment later. */
const MAX_BYTES = 2 * 1024 ** 3;
/** Some eleven days; a longer timer would fire at once. */
const MAX_MILLISECONDS = 1_000_000_000;

function mostOf(option: string): number {
  return option === 'seconds' ? MAX_MILLISECONDS : MAX_BYTES;
}

function badValue(option: ImageOption, settings: Settings): string {
  const expected = option === 'seconds' ? 'a number from 0 to 1M' : 'a quantity from 0 to 2Gi, such as 40Mi';
  return `Bad value "${settings[option] ?? ''}" of --${option}: expected ${expected}`;
}

function readBytes(text = '0'): number {
  const parsed = parseQuantity(text);
  return parsed.ok && parsed.quantity.mantissa >= 0 ? quantityNumber(parsed.quantity) : NaN;
}

function readMilli(text = '0'): number {
  const parsed = parseQuantity(text);
  return parsed.ok && parsed.quantity.mantissa >= 0 ? quantityMilliNumber(parsed.quantity) : NaN;
}

/** A setting that a container may give as an argument, `--memory=40Mi`. */
export type ImageOption = 'memory' | 'grow' | 'most' | 'cpu' | 'seconds' | 'exit-code' | 'ignore-sigterm';

export interface DemoImage {
  /** For `kubectl describe` and for the message that lists the images. */
  readonly summary: string;
  readonly options: Readonly<Partial<Record<ImageOption, string>>>;
}

/** The images that the sandbox's node can run, with the defaults of their options. It never runs a command. */
export const DEMO_IMAGES: Readonly<Record<string, DemoImage>> = {
  'demo/service': { summary: 'idle service', options: { memory: '0', cpu: '0', 'ignore-sigterm': 'false' } },
  'demo/hog': { summary: 'grows without end', options: { memory: '0', grow: '40Mi', most: '1Gi' } },
  'demo/burner': { summary: 'burns CPU, at most one core', options: { memory: '0', cpu: '500m' } },
  'demo/batch': {
    summary: 'works, then ends',
    options: { memory: '0', cpu: '100m', seconds: '5', 'exit-code': '0' },
  },
};

/** The image of that name, with any tag; `undefined` if the sandbox does not have it. */
export function findDemoImage(reference: string): { readonly name: string; readonly image: DemoImage } | undefined {
  const name = reference.replace(/^docker\.io\//, '').replace(/:[^:/]*$/, '');
  const image = Object.hasOwn(DEMO_IMAGES, name) ? DEMO_IMAGES[name] : undefined;
  return image === undefined ? undefined : { name, image };
}
