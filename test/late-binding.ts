/** Finds late binding: a closure created in a constructor that reads a field or local variable assigned after it. */
import ts from 'typescript-5.9'

type Node = ts.Node

/** @returns one line per closure that reads something assigned later: `file:line Class reads name` */
export function findLateBindings(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: Node): void => {
    if (ts.isClassLike(node)) found.push(...findInClass(node, source))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function findInClass(type: ts.ClassLikeDeclaration, source: ts.SourceFile): string[] {
  const constructor = type.members.find(ts.isConstructorDeclaration)?.body
  const initializers = type.members.filter(ts.isPropertyDeclaration).flatMap(({ initializer }) => initializer ?? [])
  const assignedAt = findAssignments(type, constructor)
  const getters = new Map(
    type.members.filter(ts.isGetAccessorDeclaration).map((getter) => [getter.name.getText(), getter]),
  )
  const found: string[] = []
  /** Names that the closure declares. */
  let own = new Set<string>()
  /** @param at where the closure is created; undefined outside a closure */
  const visit = (node: Node, at: number | undefined): void => {
    const name = at === undefined ? undefined : nameRead(node)
    if (at !== undefined && name !== undefined) {
      const isField = ts.isPropertyAccessExpression(node)
      const getter = isField ? getters.get(name) : undefined
      if (getter?.body) visit(getter.body, at)
      if ((isField || !own.has(name)) && (assignedAt.get(isField ? `this.${name}` : name) ?? -1) > at) {
        const line = source.getLineAndCharacterOfPosition(at).line + 1
        found.push(`${source.fileName}:${line} ${type.name?.text ?? 'class'} reads ${name}`)
      }
    }
    if (at === undefined && isClosure(node)) {
      own = declaredIn(node)
      ts.forEachChild(node, (child) => visit(child, node.getStart()))
    } else ts.forEachChild(node, (child) => visit(child, at))
  }
  if (constructor) visit(constructor, undefined)
  // A function that is the value of a field is a method; a function passed as an argument is a closure.
  for (const value of initializers) if (!isClosure(value)) visit(value, undefined)
  return [...new Set(found)]
}

/** The end of the first assignment of each field (`this.x`) and local variable of the constructor. */
function findAssignments(type: ts.ClassLikeDeclaration, constructor: ts.Block | undefined): Map<string, number> {
  const assignedAt = new Map<string, number>()
  for (const member of type.members.filter(ts.isPropertyDeclaration)) {
    if (member.initializer) assignedAt.set(`this.${member.name.getText()}`, member.end)
  }
  const visit = (node: Node): void => {
    if (isClosure(node)) return
    ts.forEachChild(node, visit)
    const name = assignedName(node)
    if (name !== undefined && !assignedAt.has(name)) assignedAt.set(name, node.end)
  }
  if (constructor) visit(constructor)
  return assignedAt
}

function assignedName(node: Node): string | undefined {
  if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name)) return node.name.text
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return undefined
  const field = nameRead(node.left)
  return field === undefined || !ts.isPropertyAccessExpression(node.left) ? undefined : `this.${field}`
}

/** The field of `this.x` or the local variable `x` that the node reads. */
function nameRead(node: Node): string | undefined {
  if (ts.isPropertyAccessExpression(node))
    return node.expression.kind === ts.SyntaxKind.ThisKeyword ? node.name.text : undefined
  const isMember =
    (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) ||
    (ts.isPropertyAssignment(node.parent) && node.parent.name === node)
  return ts.isIdentifier(node) && !isMember ? node.text : undefined
}

function declaredIn(closure: ts.Node): Set<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    const isDeclaration = ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node)
    if (isDeclaration && ts.isIdentifier(node.name)) names.add(node.name.text)
    ts.forEachChild(node, visit)
  }
  visit(closure)
  return names
}

function isClosure(node: Node): boolean {
  return ts.isFunctionLike(node) && !ts.isConstructorDeclaration(node)
}
