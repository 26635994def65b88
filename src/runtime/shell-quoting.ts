/** Texts as single words of a shell's command line. */

/** Returns a text between single quotes, as one word of any POSIX shell, of bash and of zsh. */
export function posixQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Returns a text as one word of a POSIX shell, as people type it: quoted only where it has to be. */
export function posixWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : posixQuoted(text)
}

/** Returns a text between single quotes, as one word of fish, which knows two escapes there. */
export function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`
}
