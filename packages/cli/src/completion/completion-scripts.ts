import type { CommandNode } from './command-tree.js';

/** Shells for which there are scripts. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** One of {@link shells}. */
export type Shell = (typeof shells)[number];

/** Writes the script that completes commands, options and their choices in a shell. */
export function completionScript(shell: Shell, tree: readonly CommandNode[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](tree);
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** All commands below others, as patterns of a `case`. */
const pathsBelow = (tree: readonly CommandNode[]) => tree.slice(1).map(({ path }) => quoted(path));

function bashScript(tree: readonly CommandNode[]): string {
  const values = tree.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, choices }) => {
        const patterns = flags.map((flag) => quoted(`${path} ${flag}`)).join('|');
        // Without choices bash completes names of files, by -o default.
        return `    ${patterns}) COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur")); return ;;`;
      }),
  );
  const words = tree.map(({ path, commands, options, choices }) => {
    const all = [...commands.map(({ name }) => name), ...choices, ...options.flatMap(({ flags }) => flags)];
    return `    ${quoted(path)}) COMPREPLY=($(compgen -W ${quoted(all.join(' '))} -- "$cur")) ;;`;
  });
  return `# Completion of riata for bash: source <(riata completion bash)
_riata() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" place=riata word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
    ${pathsBelow(tree).join('|')}) place="$place $word" ;;
    esac
  done
  case "$place $prev" in
${values.join('\n')}
  esac
  case "$place" in
${words.join('\n')}
  esac
}
complete -o default -F _riata riata`;
}

function zshScript(tree: readonly CommandNode[]): string {
  const described = (name: string, description: string) =>
    quoted(description === '' ? name : `${name.replaceAll(':', '\\:')}:${description}`);
  const values = tree.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, choices }) => {
        const action = choices.length === 0 ? '_files' : `compadd -- ${choices.map(quoted).join(' ')}`;
        return `    ${flags.map((flag) => quoted(`${path} ${flag}`)).join('|')}) ${action}; return ;;`;
      }),
  );
  const words = tree.map(({ path, commands, options, choices }) => {
    const names = [...commands.map(({ name, description }) => described(name, description)), ...choices.map(quoted)];
    const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
    return `    ${quoted(path)}) commands=(${names.join(' ')}); options=(${flags.join(' ')}) ;;`;
  });
  return `#compdef riata
# Completion of riata for zsh: source <(riata completion zsh)
_riata() {
  local place=riata word
  local -a commands options
  for word in \${words[2,CURRENT-1]}; do
    case "$place $word" in
    ${pathsBelow(tree).join('|')}) place="$place $word" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$place" in
${words.join('\n')}
  esac
  (( \${#commands} )) && _describe command commands
  [[ "$PREFIX" == -* || \${#commands} -eq 0 ]] && _describe option options
  (( \${#commands} )) || _files
}
# A shell without a configuration of its own has no completion yet.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _riata riata`;
}

function fishScript(tree: readonly CommandNode[]): string {
  const lines = tree.flatMap(({ path, commands, options, choices }) => {
    const at = `complete -c riata -n ${quoted(`__riata_at ${quoted(path)}`)}`;
    return [
      ...commands.map(({ name, description }) => `${at} -f -a ${name} -d ${quoted(description)}`),
      ...(choices.length > 0 ? [`${at} -f -a ${quoted(choices.join(' '))}`] : []),
      ...options.map(({ flags, description, takesValue, choices: values }) => {
        const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        const value = values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : takesValue ? ' -r' : '';
        return `${at} ${names.join(' ')}${value} -d ${quoted(description)}`;
      }),
    ];
  });
  return `# Completion of riata for fish: riata completion fish | source
function __riata_at
    set -l place riata
    for word in (commandline -opc)[2..-1]
        switch "$place $word"
            case ${pathsBelow(tree).join(' ')}
                set place "$place $word"
        end
    end
    test "$place" = "$argv[1]"
end
${lines.join('\n')}`;
}
