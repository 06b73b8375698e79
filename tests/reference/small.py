"""A document of a few operations, small enough to read what the pages make of it."""

ERROR = {"type": "object", "properties": {"error": {"type": "string", "description": "What happened."}}}
DOCUMENT = {
    "security": [{"key": []}],
    "tags": [{"name": "Big things", "description": "Things."}, {"name": "Empty"}],
    "paths": {
        "/v1/things/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "post": {
                "operationId": "sendThing",
                "tags": ["Big things"],
                "summary": "Send a thing",
                "parameters": [
                    {"name": "size", "in": "query", "required": True, "schema": {"type": "integer", "example": 3}},
                    {"name": "page", "in": "query", "schema": {"type": "integer"}},
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
                            "examples": {"one": {"summary": "One", "value": {"name": "Ada's"}}},
                        }
                    },
                },
                "responses": {
                    "202": {
                        "description": "Taken.",
                        "headers": {"X-Id": {"description": "Its id.", "schema": {"type": "string"}}},
                        "content": {"application/json": {"schema": {"type": "array"}, "example": [1]}},
                    },
                    "404": {"$ref": "#/components/responses/Missing"},
                },
            },
        },
        "/healthz": {"get": {"operationId": "health", "tags": ["Big things"], "security": [], "responses": {}}},
    },
    "webhooks": {"ended": {"post": {"operationId": "ended", "tags": ["Big things"], "summary": "It ended"}}},
    "components": {
        "securitySchemes": {
            "key": {"type": "http", "scheme": "bearer", "x-title": "A key"},
            "other": {"type": "apiKey", "in": "header", "name": "x-api-key", "x-title": "Another"},
        },
        "parameters": {
            "Id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "example": "t1"}
        },
        "schemas": {"Error": ERROR},
        "responses": {
            "Missing": {
                "description": "Not there.",
                "content": {
                    "application/json": {
                        "schema": {"$ref": "#/components/schemas/Error", "properties": {"error": {"const": "missing"}}},
                        "example": {"error": "missing"},
                    }
                },
            }
        },
    },
}
